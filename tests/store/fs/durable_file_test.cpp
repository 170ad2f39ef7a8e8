#include "store/fs/durable_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/store_fixture.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct DurableFileTest : ::testing::Test {
  const TemporaryDirectory root;
};

TEST_F(DurableFileTest, WhatIsWrittenAtomicallyIsReadBack) {
  for (const std::string text : {"first, and longer", "second", ""}) {
    write_file_atomically(root / "file", bytes_of(text));
    EXPECT_EQ(read_file(root / "file"), bytes_of(text));
    EXPECT_THAT(names_in(root.path()), ElementsAre("file"));
  }
}

TEST_F(DurableFileTest, AFileThatCannotBeReplacedStaysAndNothingElseIsLeft) {
  std::filesystem::create_directories(root / "file/below");
  EXPECT_THAT(error_of([&] { write_file_atomically(root / "file", bytes_of("text")); }),
              AllOf(StartsWith("73: "), HasSubstr("rename")));
  EXPECT_THAT(names_in(root.path()), ElementsAre("file"));
}

TEST_F(DurableFileTest, AFullDiskIsNamed) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  OutputFile file("/dev/full");
  EXPECT_EQ(error_of([&] { file.write(noise(100)); }), "73: /dev/full: write failed: No space left on device");
}

TEST_F(DurableFileTest, APathBelowAFileIsNamed) {
  write_plain(root / "file", {});
  const auto below = root / "file/below";
  EXPECT_EQ(error_of([&] { OutputFile{below}; }), "73: " + below.string() + ": open failed: Not a directory");
  EXPECT_THAT(error_of([&] { write_file_atomically(below, {}); }), StartsWith("73: " + below.string()));
  EXPECT_THAT(error_of([&] { create_directories_durably(below / "deeper"); }),
              StartsWith("73: " + (root / "file").string()));
  EXPECT_THAT(error_of([&] { sync_directory(below); }), StartsWith("73: " + below.string()));
}

TEST_F(DurableFileTest, AMissingFileIsNoInput) {
  const auto path = root / "missing";
  EXPECT_EQ(error_of([&] { read_file(path); }), "66: " + path.string() + ": open failed: No such file or directory");
  EXPECT_THAT(error_of([&] { read_file(root.path()); }), StartsWith("66: " + root.path().string()));
}

TEST_F(DurableFileTest, APipeOrADeviceIsRefusedAtOnce) {
  ASSERT_EQ(::mkfifo((root / "pipe").c_str(), 0600), 0);
  for (const std::filesystem::path& path : {root / "pipe", std::filesystem::path("/dev/zero")}) {
    EXPECT_EQ(error_of([&] { read_file(path); }), "66: " + path.string() + ": is not a regular file");
  }
}

TEST_F(DurableFileTest, AFileLargerThanExpectedIsRefused) {
  write_plain(root / "file", noise(10));
  EXPECT_EQ(read_file(root / "file", 10).size(), 10U);
  EXPECT_THAT(error_of([&] { read_file(root / "file", 9); }),
              AllOf(StartsWith("65: "), HasSubstr("10 bytes, at most 9")));
}

TEST_F(DurableFileTest, ReadsAtAnyOffsetEndWithTheFile) {
  write_plain(root / "file", bytes_of("0123456789"));
  const InputFile file(root / "file");
  ByteVector out(4);
  EXPECT_EQ(file.size(), 10U);
  EXPECT_EQ(file.read_at(3, out), 4U);
  EXPECT_EQ(out, bytes_of("3456"));
  EXPECT_EQ(file.read_at(8, out), 2U);
  EXPECT_EQ(file.read_at(10, out), 0U);
}

TEST_F(DurableFileTest, DirectoriesAreMadeWithThoseAboveThem) {
  for (const char* path : {"a/b/c", "a/b/c", "a/d/", "a"}) {
    create_directories_durably(root / path);
    EXPECT_TRUE(std::filesystem::is_directory(root / path)) << path;
  }
}

TEST_F(DurableFileTest, ADirectoryIsMadeInOneThatExists) {
  create_directory_durably(root / "a");
  create_directory_durably(root / "a/");
  EXPECT_EQ(error_of([&] { create_directory_durably(root / "b/c"); }),
            "73: " + (root / "b/c").string() + ": mkdir failed: No such file or directory");
  EXPECT_THAT(names_in(root.path()), ElementsAre("a"));
}

TEST_F(DurableFileTest, APublishedDirectoryReplacesWhatHadItsName) {
  create_directory_durably(root / "old");
  create_directory_durably(root / "new");
  write_plain(root / "new/file", noise(1));
  publish_directory(root / "new", root / "old");
  EXPECT_THAT(names_in(root.path()), ElementsAre("old"));
  EXPECT_THAT(names_in(root / "old"), ElementsAre("file"));
}

TEST_F(DurableFileTest, ANewDirectoryTakesThePlaceOfAnEmptyOneOnly) {
  create_directory_durably(root / "new");
  create_directory_durably(root / "empty");
  create_directory_durably(root / "full");
  for (const char* file : {"new/file", "full/precious"}) write_plain(root / file, noise(1));
  EXPECT_THAT(error_of([&] { publish_new_directory(root / "new", root / "full"); }), StartsWith("73: "));
  EXPECT_THAT(names_in(root / "full"), ElementsAre("precious"));
  publish_new_directory(root / "new", root / "empty");
  EXPECT_THAT(names_in(root.path()), ElementsAre("empty", "full"));
  EXPECT_THAT(names_in(root / "empty"), ElementsAre("file"));
}

TEST_F(DurableFileTest, ADirectoryThatCannotBePublishedLeavesTheOldOneInPlace) {
  create_directory_durably(root / "old");
  write_plain(root / "old/file", noise(1));
  EXPECT_THAT(error_of([&] { publish_directory(root / "missing", root / "old"); }), StartsWith("73: "));
  EXPECT_THAT(names_in(root.path()), ElementsAre("old"));
  EXPECT_THAT(names_in(root / "old"), ElementsAre("file"));
}

TEST_F(DurableFileTest, RemovingTakesFilesAndWholeDirectories) {
  create_directories_durably(root / "directory/below");
  write_plain(root / "file", noise(1));
  write_plain(root / "kept", noise(1));
  for (const char* name : {"directory", "file", "missing"}) remove_durably(root / name);
  EXPECT_THAT(names_in(root.path()), ElementsAre("kept"));
}

TEST_F(DurableFileTest, TemporaryNamesOfAForkedProcessAreItsOwn) {
  const std::string mine = temporary_name(root / "model");
  EXPECT_EQ(temporary_name(root / "model"), mine);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    write_plain(root / "name", {});
    std::filesystem::rename(root / "name", temporary_name(root / "model"));
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(names_in(root.path()).size(), 1U);
  EXPECT_NE(root / *names_in(root.path()).begin(), mine);
}

TEST_F(DurableFileTest, TemporaryNamesAreKnownAgain) {
  EXPECT_TRUE(is_temporary_name(temporary_name("runs/model")));
  EXPECT_EQ(directory_of(temporary_name("runs/model/")), "runs");
  EXPECT_THAT(temporary_name("model").string(), ::testing::MatchesRegex(R"(model\.tmp-[0-9]{10})"));
  EXPECT_TRUE(is_temporary_name("runs/model.old.tmp-17"));
  for (const char* name : {"model", "model.tmp-", "model.tmp-x1", "model.tmp-1x", ".tmp-1", "a.tmp-1/model"}) {
    EXPECT_FALSE(is_temporary_name(name)) << name;
  }
}

}  // namespace
}  // namespace cpt
