// Checkpoints are numbered blob sets in a folder. power_failure_test.cpp tests what a crash leaves of one that is
// written or removed; this file tests which entries of the folder count, go and stay.
#include "store/run/checkpoints.h"

#include <gmock/gmock.h>

#include "store/store_fixture.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

struct CheckpointsTest : ::testing::Test {
  void commit_next() const { write_set(checkpoints.next(), {{"tree", noise(10)}, {"weights", noise(20)}}); }

  // A plain file at `path`, with the directories above it.
  void put(const std::string& path) const {
    fs::create_directories((folder / path).parent_path());
    write_plain(folder / path, noise(1));
  }

  std::vector<std::uint64_t> numbers() const {
    std::vector<std::uint64_t> numbers;
    for (const Checkpoint& checkpoint : checkpoints.list()) numbers.push_back(checkpoint.number);
    return numbers;
  }

  TemporaryDirectory root;
  fs::path folder = root / "checkpoints";
  Checkpoints checkpoints{folder};
};

TEST_F(CheckpointsTest, AMissingFolderHoldsNone) {
  EXPECT_THAT(checkpoints.list(), IsEmpty());
  checkpoints.prune(1);
  checkpoints.remove_all();
  checkpoints.remove_leftovers();
  EXPECT_FALSE(fs::exists(folder));
}

TEST_F(CheckpointsTest, TheFirstOneMakesTheFolder) {
  EXPECT_EQ(checkpoints.next(), folder / "000000001");
  EXPECT_TRUE(fs::is_directory(folder));
}

TEST_F(CheckpointsTest, NoneMakesTheDirectoryAbove) {
  const fs::path gone = root / "gone";
  EXPECT_EQ(error_of([&] { Checkpoints(gone / "checkpoints").next(); }),
            "73: " + (gone / "checkpoints").string() + ": mkdir failed: No such file or directory");
  EXPECT_FALSE(fs::exists(gone));
}

TEST_F(CheckpointsTest, AreListedByAscendingNumber) {
  fs::create_directory(folder);
  for (const char* number : {"000000010", "000000009", "123456789", "000000002"}) write_set(folder / number, {});
  EXPECT_THAT(checkpoints.list(),
              ElementsAre(Checkpoint{2, folder / "000000002"}, Checkpoint{9, folder / "000000009"},
                          Checkpoint{10, folder / "000000010"}, Checkpoint{123456789, folder / "123456789"}));
  EXPECT_EQ(checkpoints.next(), folder / "123456790");
}

TEST_F(CheckpointsTest, OnlyNumberedDirectoriesWithAManifestAreListed) {
  commit_next();
  for (const char* rubbish : {"000000002/tree", "000000003.tmp-17/MANIFEST", "0000000004/MANIFEST", "00000005/MANIFEST",
                              "000000000/MANIFEST", "00000006x/MANIFEST", "notes/MANIFEST", "000000007",
                              "000000008/MANIFEST/file", "MANIFEST", "+00000009/MANIFEST", "000000001.old/MANIFEST"}) {
    put(rubbish);
  }
  write_set(root / "elsewhere", {});
  fs::create_directory_symlink(root / "elsewhere", folder / "000000011");
  EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_F(CheckpointsTest, DirectoriesThatHaveLostTheirManifestAreKnownAboveTheNewestOne) {
  EXPECT_THAT(checkpoints.without_manifest(), IsEmpty());
  for (const char* lost : {"000000001/tree", "000000003/tree", "000000004/tree", "000000005.tmp-17/tree"}) put(lost);
  write_set(folder / "000000002", {});
  EXPECT_THAT(checkpoints.without_manifest(),
              ElementsAre(Checkpoint{3, folder / "000000003"}, Checkpoint{4, folder / "000000004"}));
  fs::remove(folder / "000000002/MANIFEST");
  EXPECT_EQ(checkpoints.without_manifest().size(), 4U);
}

TEST_F(CheckpointsTest, NoNumberIsUsedTwice) {
  const auto expect_next = [&](const char* number) { EXPECT_EQ(checkpoints.next(), folder / number); };
  commit_next();
  expect_next("000000002");
  put("000000004/tree");
  expect_next("000000005");
  put("000000006.tmp-17/tree");
  expect_next("000000007");
  put("000000008");
  expect_next("000000009");
  put("0000000099");
  put("notes");
  expect_next("000000009");
  put("999999999");
  EXPECT_EQ(error_of([&] { checkpoints.next(); }), "73: " + folder.string() + ": has no number left");
}

TEST_F(CheckpointsTest, AFolderThatCannotBeListedIsNamed) {
  write_plain(folder, noise(1));
  EXPECT_EQ(error_of([&] { checkpoints.list(); }), "66: " + folder.string() + ": list failed: Not a directory");
  EXPECT_THAT(error_of([&] { checkpoints.next(); }), StartsWith("66: "));
  EXPECT_THAT(error_of([&] { checkpoints.prune(1); }), StartsWith("66: "));
}

// The disk of the checkpoints is not mounted.
TEST_F(CheckpointsTest, AFolderThatIsALinkToNothingIsNamed) {
  fs::create_symlink(root / "gone", folder);
  const std::string expected = "66: " + folder.string() + ": list failed: No such file or directory";
  EXPECT_EQ(error_of([&] { checkpoints.list(); }), expected);
  EXPECT_EQ(error_of([&] { checkpoints.next(); }), expected);
  fs::create_directory(root / "gone");
  EXPECT_THAT(checkpoints.list(), IsEmpty());
}

TEST_F(CheckpointsTest, AManifestThatCannotBeExaminedIsNotMissing) {
  for (int i = 0; i < 3; ++i) commit_next();
  const fs::path manifest = folder / "000000002/MANIFEST";
  fs::remove(manifest);
  fs::create_symlink("MANIFEST", manifest);  // it leads to itself, which the system refuses to follow
  const auto before = names_in(folder);
  const std::string expected = "66: " + manifest.string() + ": stat failed: Too many levels of symbolic links";
  EXPECT_EQ(error_of([&] { checkpoints.list(); }), expected);
  EXPECT_EQ(error_of([&] { checkpoints.prune(1); }), expected);
  EXPECT_EQ(names_in(folder), before);
}

TEST_F(CheckpointsTest, OneThatAnotherUserMayNotSearchIsNotMissing) {
  commit_next();
  const auto expect_error = [&](const fs::path& closed, const fs::path& named) {
    const fs::perms before = fs::status(closed).permissions();
    fs::permissions(closed, fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read);
    const int status = in_killed_process([&] {
      if (::geteuid() == 0 && ::seteuid(65534) != 0) throw Error(Fault::kFailed, "cannot become another user");
      const std::string error = error_of([&] { checkpoints.list(); });
      if (error != "66: " + named.string() + ": stat failed: Permission denied") throw Error(Fault::kFailed, error);
    });
    EXPECT_EQ(status, 0) << closed;
    fs::permissions(closed, before);
  };
  fs::permissions(root.path(), fs::perms::group_all | fs::perms::others_all, fs::perm_options::add);
  expect_error(folder / "000000001", folder / "000000001/MANIFEST");
  expect_error(folder, folder / "000000001");
}

TEST_F(CheckpointsTest, PruningKeepsTheNewest) {
  for (int i = 0; i < 5; ++i) commit_next();
  checkpoints.prune(9);
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3, 4, 5));
  checkpoints.prune(5);
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3, 4, 5));
  checkpoints.prune(3);
  EXPECT_THAT(numbers(), ElementsAre(3, 4, 5));
  checkpoints.prune(1);
  checkpoints.prune(1);
  EXPECT_THAT(names_in(folder), ElementsAre("000000005"));
  EXPECT_EQ(read_set(folder / "000000005").size(), 2U);
}

TEST_F(CheckpointsTest, TheNewestIsNeverPruned) {  // C8
  commit_next();
  EXPECT_THAT(error_of([&] { checkpoints.prune(0); }), AllOf(StartsWith("1: "), HasSubstr("must be kept")));
  EXPECT_THAT(numbers(), ElementsAre(1));
  // Not even if a higher number is taken by something that is not complete.
  put("000000002/tree");
  checkpoints.prune(1);
  EXPECT_THAT(numbers(), ElementsAre(1));
}

TEST_F(CheckpointsTest, PruningTakesADamagedOneToo) {
  commit_next();
  commit_next();
  write_plain(folder / "000000001/MANIFEST", noise(5));
  fs::remove(folder / "000000001/tree");
  checkpoints.prune(1);
  EXPECT_THAT(names_in(folder), ElementsAre("000000002"));
}

TEST_F(CheckpointsTest, PruningTakesThoseThatCannotBeUsedFirst) {
  for (int i = 0; i < 5; ++i) commit_next();
  const std::vector<fs::path> unusable{folder / "000000003", folder / "000000004", folder / "000000005"};
  checkpoints.prune(5, unusable);
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 3, 4, 5));
  checkpoints.prune(4, unusable);
  EXPECT_THAT(numbers(), ElementsAre(1, 2, 4, 5));
  checkpoints.prune(2, unusable);
  EXPECT_THAT(numbers(), ElementsAre(2, 5)) << "the newest stays";
  commit_next();
  checkpoints.prune(2, unusable);
  EXPECT_THAT(numbers(), ElementsAre(2, 6));
}

TEST_F(CheckpointsTest, WhatACrashLeftOfAPrunedOneGoesWithTheNextPruning) {
  put("000000001/weights");
  fs::create_directories(folder / "000000002");
  checkpoints.prune(1);
  EXPECT_THAT(names_in(folder), UnorderedElementsAre("000000001", "000000002"));  // there is no complete one yet
  commit_next();
  checkpoints.prune(1);
  EXPECT_THAT(names_in(folder), ElementsAre("000000003"));
}

TEST_F(CheckpointsTest, OneWithoutAManifestWasRemovedSinceItWasListed) {
  for (int i = 0; i < 3; ++i) commit_next();
  const std::vector<Checkpoint> listed = checkpoints.list();
  for (const Checkpoint& one : listed) EXPECT_FALSE(was_removed(one)) << one.number;
  checkpoints.prune(2);
  fs::remove(listed[1].directory / "MANIFEST");  // as far as a removal gets at first
  write_plain(listed[2].directory / "MANIFEST", noise(5));
  fs::remove(listed[2].directory / "tree");
  EXPECT_TRUE(was_removed(listed[0]));
  EXPECT_TRUE(was_removed(listed[1]));
  EXPECT_FALSE(was_removed(listed[2])) << "it is damaged";
}

TEST_F(CheckpointsTest, NothingThatNoRunWroteIsRemoved) {
  const std::vector<std::string> foreign{
      "000000001/deeper/file", "000000002/.hidden", "notes/file",    "notes.txt",
      "0000000003/tree",       "000000004",         "notes.tmp-1/x", "000000000/tree"};
  for (const std::string& file : foreign) put(file);
  write_set(root / "elsewhere", {{"tree", noise(1)}});
  fs::create_directory_symlink(root / "elsewhere", folder / "000000005");
  commit_next();
  commit_next();
  checkpoints.prune(1);
  checkpoints.remove_leftovers();
  checkpoints.remove_all();
  for (const std::string& file : foreign) EXPECT_TRUE(fs::exists(folder / file)) << file;
  EXPECT_TRUE(fs::is_symlink(folder / "000000005"));
  EXPECT_EQ(read_set(root / "elsewhere").size(), 1U);
  EXPECT_EQ(names_in(folder).size(), foreign.size() + 1);
}

TEST_F(CheckpointsTest, WhatLiesInACheckpointBesidesItsFilesStays) {
  for (int i = 0; i < 2; ++i) commit_next();
  put("000000001/deeper/file");
  fs::create_symlink(root / "elsewhere", folder / "000000001/link");
  checkpoints.prune(1);
  EXPECT_THAT(names_in(folder / "000000001"), UnorderedElementsAre("deeper", "link"));
  EXPECT_THAT(numbers(), ElementsAre(2));
  checkpoints.prune(1);
  EXPECT_THAT(names_in(folder / "000000001"), UnorderedElementsAre("deeper", "link"));
}

TEST_F(CheckpointsTest, LeftoversAreTheTemporaryNamesOfAnyProcess) {
  commit_next();
  for (const char* file : {"000000002.tmp-17/MANIFEST", "000000001.old.tmp-4/tree", "000000003.tmp-9", "mine.tmp-1"}) {
    put(file);
  }
  checkpoints.remove_leftovers();
  EXPECT_THAT(names_in(folder), UnorderedElementsAre("000000001", "mine.tmp-1"));
}

TEST_F(CheckpointsTest, RemovingAllLeavesNoneComplete) {
  for (int i = 0; i < 3; ++i) commit_next();
  put("000000004/weights");
  checkpoints.remove_all();
  EXPECT_THAT(names_in(folder), IsEmpty());
}

}  // namespace
}  // namespace cpt
