#include "store/fs/unfinished.h"

#include <fcntl.h>
#include <gmock/gmock.h>

#include "store/store_fixture.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

struct UnfinishedTest : ::testing::Test {
  const TemporaryDirectory root;
};

TEST_F(UnfinishedTest, WhatNobodyHoldsIsSweptAway) {
  fs::create_directories(root / "out.tmp-17/below");
  for (const char* name : {"out", "out.tmp-18", "out.tmp-x", "other.tmp-18", "out.txt.tmp-18", "out.tmp-17/file"}) {
    write_plain(root / name, {});
  }
  sweep_unfinished(root / "out/");
  EXPECT_THAT(names_in(root.path()), ElementsAre("other.tmp-18", "out", "out.tmp-x", "out.txt.tmp-18"));
  sweep_unfinished(root / "missing/out");
}

TEST_F(UnfinishedTest, WhatIsHeldStays) {
  fs::create_directory(root / "out.tmp-17");
  write_plain(root / "out.tmp-18", {});
  {
    const FileDescriptor folder(::open((root / "out.tmp-17").c_str(), O_RDONLY | O_DIRECTORY));
    const FileDescriptor file(::open((root / "out.tmp-18").c_str(), O_WRONLY));
    EXPECT_TRUE(hold_unfinished(folder, root / "out.tmp-17"));
    EXPECT_TRUE(hold_unfinished(file, root / "out.tmp-18"));
    sweep_unfinished(root / "out");
    EXPECT_THAT(names_in(root.path()), ElementsAre("out.tmp-17", "out.tmp-18"));
  }
  sweep_unfinished(root / "out");
  EXPECT_THAT(names_in(root.path()), ElementsAre());
}

TEST_F(UnfinishedTest, WhatWasSweptBeforeItWasHeldIsReported) {
  write_plain(root / "out.tmp-17", {});
  const FileDescriptor file(::open((root / "out.tmp-17").c_str(), O_WRONLY));
  sweep_unfinished(root / "out");
  EXPECT_FALSE(hold_unfinished(file, root / "out.tmp-17"));
}

TEST_F(UnfinishedTest, NothingBehindALinkIsSweptAway) {
  fs::create_directory(root / "kept");
  write_plain(root / "kept/file", {});
  fs::create_directory_symlink("kept", root / "out.tmp-17");
  fs::create_symlink("kept/file", root / "out.tmp-18");
  sweep_unfinished(root / "out");
  EXPECT_THAT(names_in(root / "kept"), ElementsAre("file"));
}

}  // namespace
}  // namespace cpt
