#include "data/pipeline/example_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "data/folder.h"
#include "data/lines.h"
#include "data/reading.h"
#include "data/shards/shards.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// One line per word, the word being the label.
std::string shard(const std::string& labels) {
  std::string text;
  for (const char label : labels) text += std::string(1, label) + " |f x\n";
  return text;
}

TEST(ExampleStream, InterleavesShardsOfUnevenLength) {
  const Folder folder;
  const std::vector<std::string> paths = {folder.write("0", shard("abc")), folder.write("1", shard("")),
                                          folder.write("2", shard("defgh")), folder.write("3", shard("i"))};
  EXPECT_EQ(labels_of(read_all(paths)), "a d i b e c f g h");
}

TEST(ExampleStream, ReadsShardAfterShardIfAsked) {
  const Folder folder;
  const std::vector<std::string> paths = {folder.write("0", shard("abc")), folder.write("1", ""),
                                          folder.write("2", shard("de"))};
  EXPECT_EQ(labels_of(read_all(paths, {.order = ShardOrder::kSequential})), "a b c d e");
}

TEST(ExampleStream, LinesWithoutAnExampleTakeNoTurn) {
  const Folder folder;
  const std::string gaps = "a |f x\n\n \t\r\nbad\nb |f x\nc |f x\n";
  const auto examples = read_all({folder.write("0", gaps), folder.write("1", shard("uvw"))}, skipping());
  EXPECT_EQ(labels_of(examples), "a u b v c w");
  EXPECT_EQ(examples[2].line, 5U);
}

TEST(ExampleStream, OriginCountsAllShardsOfTheRun) {
  const Folder folder;
  const std::vector<Shard> shards = {{"unread", 0},
                                     {folder.write("1", shard("a")), shard("a").size()},
                                     {"unread", 0},
                                     {folder.write("3", shard("bc")), shard("bc").size()}};
  ExampleStream stream(shards, {1, 3}, {});
  const auto examples = read_rest(stream);
  ASSERT_EQ(labels_of(examples), "a b c");
  EXPECT_EQ(examples[0].shard, 1U);
  EXPECT_EQ(examples[2].shard, 3U);
  EXPECT_EQ(examples[2].line, 2U);
}

TEST(ExampleStream, WithoutShardsIsAtItsEnd) {
  ExampleStream stream({}, {}, {});
  Batch batch;
  EXPECT_FALSE(stream.read(batch));
  EXPECT_FALSE(stream.read(batch));
}

TEST(ExampleStream, ManyExamplesOfOneLineStayTogether) {
  const Folder folder;
  const std::vector<std::string> paths = {folder.write("0", "1,2 1:1\n3 1:1\n"), folder.write("1", "4 1:1\n5,6 1:1\n")};
  EXPECT_EQ(labels_of(read_all(paths, {.multilabel = MultiLabel::kSplit})), "1 2 4 3 5 6");
}

TEST(ExampleStream, BatchesNormalizeAsTheOptionsSay) {
  const Folder folder;
  EXPECT_EQ(read_all({folder.write("a", "y |f u:3 v:4\n")}, {.normalize = Normalize::kL2})[0].x,
            features({{"f", "u", 0.6F}, {"f", "v", 0.8F}}));
}

TEST(ExampleStream, NamesWhatCannotBeRead) {
  const Folder folder;
  EXPECT_EQ(error_of(Fault::kNoInput, [&] { read_all({folder.path("gone")}); }),
            folder.path("gone") + ": open failed: No such file or directory");
  EXPECT_EQ(error_of(Fault::kNoInput, [&] { read_all({folder.path()}); }),
            folder.path() + ": read failed: Is a directory");
}

// Of a file that changes once its shards are found; the reader has the first of its two buffers by then, or nothing.
class ChangingFile : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  static constexpr std::size_t kLines = 20'000;  // some buffers full

  std::string path(const std::string& text) const { return folder_.write("changing", text); }
  static std::string lines(std::size_t count) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) text += "label |f feature\n";
    return text;
  }
  // Reads the parts that the file had; calls `change` behind the first line of each.
  template <class Split>
  static std::size_t examples_of(const std::string& file, const ReadOptions& options, Split change) {
    const std::vector<Shard> parts = split(find_shards({file})[0], GetParam());
    std::size_t examples = 0;
    for (std::uint32_t part = 0; part < parts.size(); ++part) {
      ExampleStream stream(parts, {part}, options);
      Batch batch;
      stream.read(batch);
      change();
      while (stream.read(batch)) {
      }
      examples += batch.size();
    }
    return examples;
  }

 private:
  Folder folder_;
};

TEST_P(ChangingFile, ThatIsCutOffIsAnErrorWithBothSizes) {
  const std::string text = lines(kLines);
  for (const std::size_t left : {std::size_t{0}, text.size() / kLines * (kLines - 1)}) {
    const std::string file = path(text);
    const auto cut = [&] { std::filesystem::resize_file(file, left); };
    EXPECT_THAT(error_of(Fault::kBadData, [&] { examples_of(file, skipping(), cut); }),
                AllOf(StartsWith(file + ": expected the " + std::to_string(text.size()) + " bytes"),
                      HasSubstr("truncated meanwhile")))
        << left;
  }
}

TEST_P(ChangingFile, ThatGrowsIsReadAsItWas) {
  const std::string file = path(lines(kLines) + "last |f fea");
  const auto grow = [&] { std::ofstream(file, std::ios::app) << "ture\nno example\n" << lines(10); };
  EXPECT_EQ(examples_of(file, {}, grow), kLines + 1);
}

TEST_P(ChangingFile, ThatHasGrownSinceItWasLeftGoesOnAsItWas) {
  const std::string file = path(lines(10) + "last |f fea");
  const std::vector<Shard> parts = split(find_shards({file})[0], GetParam());
  std::ofstream(file, std::ios::app) << "ture\nno example\n" << lines(10);
  std::vector<std::uint32_t> all(parts.size());
  std::iota(all.begin(), all.end(), 0U);
  expect_to_go_on_anywhere({parts, all, {}});
}

INSTANTIATE_TEST_SUITE_P(InParts, ChangingFile, ::testing::Values(1, 3));

TEST(ExampleStream, ReadsAThousandShardsAtATime) {
  const Folder folder;
  std::vector<std::string> paths;
  for (int i = 0; i < 1000; ++i) paths.push_back(folder.write(std::to_string(i), shard("ab")));
  const auto examples = read_all(paths);
  ASSERT_EQ(examples.size(), 2000U);
  EXPECT_EQ(examples[999].label, "a");
  EXPECT_EQ(examples[1000].label, "b");
}

}  // namespace
}  // namespace cpt
