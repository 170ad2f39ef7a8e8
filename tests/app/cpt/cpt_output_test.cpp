// Where results go: the files, pipes and directories that users name.
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
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
  bool left_unfinished() const {
    return std::ranges::any_of(names_in("."), [](const std::string& name) { return name.starts_with("result.tmp-"); });
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

TEST_F(OutputTest, ASignalTakesTheUnfinishedFileAway) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Conversation talk(folder(), {"predict", "--model", "model", "--data", "-", "--output", "result"});
    for (int waits = 0; waits < 6000 && !left_unfinished(); ++waits) ::usleep(10'000);
    EXPECT_TRUE(left_unfinished());
    talk.signal(signal);
    EXPECT_EQ(talk.end(), -signal);
    expect_nothing_left();
  }
}

TEST_F(OutputTest, AnEmptyDirectoryIsEmptyAgainAfterAFailure) {
  write("bad.vw", "a |f x\nbad\n");
  fs::create_directory(path("empty"));
  EXPECT_EQ(run({"convert", "bad.vw", "empty"}).code, 65);
  EXPECT_TRUE(fs::is_empty(path("empty")));
}

TEST_F(OutputTest, AnInputOrResultsAreNotReplaced) {
  fs::create_symlink("test.vw", path("link"));
  const std::string before = content_of(path("test.vw"));
  for (const char* output : {"test.vw", "link", "./test.vw"}) {
    for (const char* command : {"predict", "score"}) {
      expect_failure({command, "--model", "model", "--data", "test.vw", "--output", output}, 2,
                     std::string("--output ") + output + " would replace the input test.vw");
    }
  }
  EXPECT_EQ(shell("\\$cpt predict --model model --data - --output test.vw <test.vw 2>said"), 2);
  EXPECT_EQ(content_of(path("test.vw")), before);

  fs::create_directories(path("run/checkpoints"));
  for (const char* file : {"run/lock", "run/metrics.jsonl"}) write(file, "");
  for (const std::string output : {"model/tree", "model/new", "run/log.txt", "run/checkpoints/new"}) {
    expect_failure({"dump", "--model", "model", "--output", output}, 73, output + ": lies in the ");
    expect_failure({"predict", "--model", "model", "--data", "test.vw", "--output", output}, 73,
                   output + ": lies in the ");
  }
  EXPECT_EQ(run({"dump", "--model", "model"}).code, 0);
}

TEST_F(OutputTest, AFileThatMayNotGrowIsToldOf) {
  EXPECT_EQ(shell("ulimit -f 1 && \\$cpt synth web-ads log --events 1000 2>said"), 73);
  EXPECT_THAT(content_of(path("said")), HasSubstr("File too large"));
  expect_nothing_left();
}

}  // namespace
}  // namespace cpt
