#include "store/fs/replacement.h"

#include <gmock/gmock.h>

#include "store/fs/durable_file.h"
#include "store/store_fixture.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

struct ReplacementTest : ::testing::Test {
  const TemporaryDirectory root;
  const fs::path path = root / "set";
};

TEST_F(ReplacementTest, ADirectoryThatStaysIsNotReplaced) {
  fs::create_directory(path);
  EXPECT_FALSE(was_replaced(open_directory(path), path));
  fs::remove(path);
  EXPECT_FALSE(was_replaced(open_directory(path), path));
}

TEST_F(ReplacementTest, ADirectoryInThePlaceOfAnotherOrOfNoneIsNoticed) {
  const FileDescriptor none = open_directory(path);
  fs::create_directory(path);
  EXPECT_TRUE(was_replaced(none, path));
  const FileDescriptor first = open_directory(path);
  fs::create_directory(root / "new");
  publish_directory(root / "new", path);
  EXPECT_TRUE(was_replaced(first, path));
}

// The writer was killed between the two renames, or is as slow.
TEST_F(ReplacementTest, ANameThatIsBeingPassedOnIsWaitedForButNotForEver) {
  fs::create_directory(path);
  const FileDescriptor opened = open_directory(path);
  fs::rename(path, root / "set.old.tmp-7");
  EXPECT_FALSE(was_replaced(opened, path));
  fs::create_directory(path);
  EXPECT_TRUE(was_replaced(opened, path));
}

TEST_F(ReplacementTest, ReadingBeginsAgainOnlyAfterAReplacement) {
  fs::create_directory(path);
  int reads = 0;
  const auto read = [&] {
    if (++reads == 2) return reads;
    fs::create_directory(root / "new");
    publish_directory(root / "new", path);
    throw Error(Fault::kBadData, "half of it");
  };
  EXPECT_EQ(read_unreplaced(path, read), 2);
  EXPECT_EQ(error_of([&] { read_unreplaced(path, []() -> int { throw Error(Fault::kBadData, "damaged"); }); }),
            "65: damaged");
}

TEST_F(ReplacementTest, WhatIsNoDirectoryIsReadOnce) {
  std::ofstream(path) << "a file";
  int reads = 0;
  const auto read = [&]() -> int {
    ++reads;
    throw Error(Fault::kNoInput, "no directory");
  };
  EXPECT_EQ(error_of([&] { read_unreplaced(path, read); }), "66: no directory");
  EXPECT_EQ(reads, 1);
}

}  // namespace
}  // namespace cpt
