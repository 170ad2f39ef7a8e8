#include "data/shards/shards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

using ::testing::HasSubstr;

using Names = std::vector<std::string>;

// Paths relative to the folder.
Names names_of(const Folder& folder, const std::vector<std::string>& patterns) {
  std::vector<std::string> paths;
  for (const std::string& pattern : patterns) paths.push_back(pattern == "-" ? pattern : folder.path(pattern));
  Names names;
  for (const Shard& shard : find_shards(paths)) {
    const bool inside = shard.path.starts_with(folder.path());
    names.push_back(inside ? std::filesystem::relative(shard.path, folder.path()).string() : shard.path);
  }
  return names;
}

TEST(FindShards, TakesFilesFoldersAndGlobsInTheOrderGiven) {
  const Folder folder;
  for (const char* name : {"d/b", "d/a", "d/B", "d/é", "d/.hidden", "d/_done", "d/sub/x", "x2", "x10", "z"}) {
    folder.write(name, "x");
  }
  EXPECT_EQ(names_of(folder, {"z", "d", "x*", "-"}), Names({"z", "d/B", "d/a", "d/b", "d/é", "x10", "x2", "-"}));
}

TEST(FindShards, NeverGivesAFileTwice) {
  const Folder folder;
  folder.write("d/a", "x");
  folder.write("d/b", "x");
  std::filesystem::create_symlink(folder.path("d/a"), folder.path("link"));
  EXPECT_EQ(names_of(folder, {"d/b", "d", "d/*", "d/../d/a", "link", "-", "-", "/dev/stdin"}),
            Names({"d/b", "d/a", "-"}));
}

TEST(FindShards, ALinkToNothingIsAnErrorOrToldOf) {
  const Folder folder;
  folder.write("d/a", "x");
  const std::string link = folder.path("d/dead");
  std::filesystem::create_symlink("nowhere", link);
  for (const std::string& pattern : {folder.path("d"), folder.path("d/*")}) {
    EXPECT_EQ(error_of(Fault::kNoInput, [&] { find_shards({pattern}); }),
              "no input at '" + pattern + "': " + link + ": is a link to nothing");
    Names told;
    const auto shards = find_shards({pattern}, [&](const std::string& path) { told.push_back(path); });
    EXPECT_EQ(shards.size(), 1U);
    EXPECT_EQ(told, Names({link}));
  }
  const std::string dead = folder.path("d/de*");
  EXPECT_EQ(error_of(Fault::kNoInput, [&] { find_shards({dead}, [](const std::string&) {}); }),
            "no input at '" + dead + "': the pattern matches only links to nothing");
  EXPECT_EQ(error_of(Fault::kNoInput, [&] { find_shards({link}, [](const std::string&) { FAIL(); }); }),
            "no input at '" + link + "': " + link + ": is a link to nothing");
}

TEST(FindShards, AFileMayLookLikeAPattern) {
  const Folder folder;
  folder.write("a[1]", "x");
  folder.write("a1", "x");
  EXPECT_EQ(names_of(folder, {"a[1]"}), Names({"a[1]"}));
}

TEST(FindShards, KnowsFilesWithTheirSizesAndPipes) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  const auto shards = find_shards({folder.write("a", "12345"), folder.write("empty", ""), folder.path("pipe"), "-"});
  ASSERT_EQ(shards.size(), 4U);
  EXPECT_EQ(shards[0].bytes, 5U);
  EXPECT_EQ(shards[1].bytes, 0U);
  EXPECT_TRUE(shards[0].regular && shards[1].regular);
  for (const std::size_t pipe : {2U, 3U}) {
    EXPECT_FALSE(shards[pipe].regular);
    EXPECT_EQ(head_checksum(shards[pipe]), 0U);
  }
}

// The name of a thread is a file of this kind that anyone may write.
TEST(FindShards, TakesFilesThatTellNoSizeForPipes) {
  char name[16] = "";
  ASSERT_EQ(::pthread_getname_np(::pthread_self(), name, sizeof name), 0);
  ASSERT_EQ(::pthread_setname_np(::pthread_self(), "a |f x"), 0);
  const std::string path = "/proc/thread-self/comm";
  const std::vector<Shard> shards = find_shards({path});
  EXPECT_FALSE(shards.at(0).regular);
  EXPECT_EQ(head_checksum(shards.at(0)), 0U);
  ExampleStream stream(shards, {0}, {});
  EXPECT_EQ(read_rest(stream), read_all({Folder().write("file", "a |f x\n")}));
  ::pthread_setname_np(::pthread_self(), name);
}

TEST(IsOneFile, WhateverItIsCalled) {
  const Folder folder;
  ASSERT_EQ(::mkfifo(folder.path("pipe").c_str(), 0600), 0);
  std::filesystem::create_symlink("pipe", folder.path("link"));
  folder.write("file", "x");
  const auto shard = [&](const std::string& name) { return find_shards({name}).at(0); };
  EXPECT_TRUE(is_one_file(shard(folder.path("pipe")), shard(folder.path("link"))));
  EXPECT_FALSE(is_one_file(shard(folder.path("pipe")), shard(folder.path("file"))));
  EXPECT_TRUE(is_one_file(shard("-"), shard("-")));
  EXPECT_TRUE(is_one_file(shard("-"), shard("/dev/stdin")));
}

TEST(FindShards, NamesThePatternThatYieldsNothingOrAFileThatCannotBeRead) {
  const Folder folder;
  folder.write("a", "x");
  folder.write("hidden/.x", "x");
  folder.write("nested/sub/x", "x");
  std::filesystem::create_directory(folder.path("d"));
  std::filesystem::create_symlink("nowhere", folder.path("d/broken"));
  const auto reason_of = [&](const char* bad) {
    return error_of(Fault::kNoInput, [&] { names_of(folder, {"a", bad}); });
  };
  for (const char* bad : {"missing", "b*", "hidden", "nested", "a/b", "d"}) {
    EXPECT_THAT(reason_of(bad), HasSubstr("'" + folder.path(bad) + "'"));
  }
  EXPECT_THAT(reason_of("d"), HasSubstr(folder.path("d/broken")));
  EXPECT_THAT(reason_of("nested"), HasSubstr("a pattern names them, like '" + folder.path("nested/*") + "'"));
  EXPECT_THAT(reason_of("hidden"), HasSubstr("holds no files"));
  EXPECT_EQ(names_of(folder, {"nested/*"}), Names({"nested/sub/x"}));
}

// The one of nothing is published, so this is XXH3 and no other hash.
TEST(HeadChecksum, IsOfTheFirst64KibibytesAsStored) {
  const Folder folder;
  const auto checksum = [&](const std::string& content) {
    return head_checksum(find_shards({folder.write("a", content)}).at(0));
  };
  EXPECT_EQ(checksum(""), 0x2d06800538d394c2U);
  const std::string head(std::size_t{1} << 16, 'x');
  const std::uint64_t whole = checksum(head);
  EXPECT_EQ(checksum(head + "y"), whole);
  EXPECT_NE(checksum(head.substr(1)), whole);
  for (const std::size_t changed : {std::size_t{0}, head.size() / 2, head.size() - 1}) {
    std::string other = head;
    other[changed] = 'y';
    EXPECT_NE(checksum(other), whole) << changed;
  }
}

TEST(HeadChecksum, NamesAFileThatIsGone) {
  const Folder folder;
  const Shard shard = find_shards({folder.write("a", "x")}).at(0);
  std::filesystem::remove(shard.path);
  EXPECT_EQ(error_of(Fault::kNoInput, [&] { head_checksum(shard); }),
            shard.path + ": open failed: No such file or directory");
}

std::vector<Shard> sized(const std::vector<std::uint64_t>& sizes) {
  std::vector<Shard> shards;
  for (const std::uint64_t bytes : sizes) shards.push_back({"s", bytes});
  return shards;
}

using Assignment = std::vector<std::vector<std::uint32_t>>;

TEST(AssignShards, LargestFirstToTheLeastLoadedRank) {
  EXPECT_EQ(assign_shards(sized({1, 5, 4, 3}), 2), Assignment({{0, 1}, {2, 3}}));
  EXPECT_EQ(assign_shards(sized({2, 2, 2, 2}), 2), Assignment({{0, 2}, {1, 3}}));
  EXPECT_EQ(assign_shards(sized({3, 9}), 1), Assignment({{0, 1}}));
}

TEST(AssignShards, ShardsOfUnknownSizeAreSpread) {
  EXPECT_EQ(assign_shards(sized({0, 0, 0}), 2), Assignment({{0, 2}, {1}}));
}

TEST(AssignShards, RanksMayGetNone) {
  EXPECT_EQ(assign_shards(sized({7}), 3), Assignment({{0}, {}, {}}));
  EXPECT_EQ(assign_shards({}, 2), Assignment({{}, {}}));
}

TEST(AssignShards, OnlyReadersGetSome) {
  EXPECT_EQ(assign_shards(sized({7, 5, 5}), {false, true, false, true}), Assignment({{}, {0}, {}, {1, 2}}));
}

TEST(AssignShards, EveryShardHasOneRank) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t i = 0; i < 100; ++i) sizes.push_back(mix(i) % 1000);
  for (const int ranks : {1, 2, 3, 5, 8, 200}) {
    std::vector<int> readers(sizes.size(), 0);
    for (const auto& mine : assign_shards(sized(sizes), ranks)) {
      EXPECT_TRUE(std::is_sorted(mine.begin(), mine.end()));
      for (const std::uint32_t shard : mine) ++readers[shard];
    }
    EXPECT_EQ(readers, std::vector<int>(sizes.size(), 1)) << ranks;
  }
}

}  // namespace
}  // namespace cpt
