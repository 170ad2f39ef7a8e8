// Where results go: the files, pipes and directories that users name.
#include <sys/stat.h>

#include <cstdlib>

#include "app/program.h"

namespace cpt {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

namespace fs = std::filesystem;

class OutputTest : public TrainedTest {
 protected:
  // The exit status of a line of bash, in which $cpt is the program.
  int shell(const std::string& line) const {
    const std::string cpt = std::string("cpt='") + CPT_PROGRAM + "'; ";
    const std::string all = "cd '" + folder().string() + "' && exec bash -c \"" + cpt + line + "\"";
    const int status = std::system(all.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  Words dumped() const { return results({"dump", "--model", "model"}); }
  void dump_to(const std::string& output) const {
    EXPECT_THAT(results({"dump", "--model", "model", "--output", output}), IsEmpty());
  }
};

TEST_F(OutputTest, APipeBehindALinkIsWrittenAsItIs) {
  EXPECT_EQ(shell("set -o pipefail; \\$cpt dump --model model --output /dev/stdout | cat >piped"), 0);
  EXPECT_EQ(lines_of(content_of(path("piped"))), dumped());
}

TEST_F(OutputTest, ALinkToAFileStaysALink) {
  write("file", "before");
  fs::create_directory(path("below"));
  fs::create_symlink("file", path("link"));
  fs::create_symlink("../link", path("below/second"));
  fs::create_symlink("below/new", path("to nothing"));
  for (const auto& [link, file] : {std::pair("below/second", "file"), std::pair("to nothing", "below/new")}) {
    dump_to(link);
    EXPECT_TRUE(fs::is_symlink(path(link)));
    EXPECT_FALSE(fs::is_symlink(path(file)));
    EXPECT_EQ(lines_of(content_of(path(file))), dumped());
  }
  expect_nothing_left();
}

TEST_F(OutputTest, WhatKilledProcessesHaveLeftIsSweptAway) {
  write("tree.tmp-99999999", "left");
  dump_to("tree");
  expect_nothing_left();
  fs::create_directory(path("binary.tmp-99999999"));
  write("binary.tmp-99999999/part-000.cpt", "left");
  results({"convert", "test.vw", "binary"});
  expect_nothing_left();
}

TEST_F(OutputTest, AnEmptyDirectoryIsEmptyAgainAfterAFailure) {
  write("bad.vw", "a |f x\nbad\n");
  fs::create_directory(path("empty"));
  EXPECT_EQ(run({"convert", "bad.vw", "empty"}).code, 65);
  EXPECT_TRUE(fs::is_empty(path("empty")));
}

TEST_F(OutputTest, AFileThatMayNotGrowIsToldOf) {
  EXPECT_EQ(shell("ulimit -f 1 && \\$cpt synth web-ads log --events 1000 2>said"), 73);
  EXPECT_THAT(content_of(path("said")), HasSubstr("File too large"));
  expect_nothing_left();
}

}  // namespace
}  // namespace cpt
