#include "data/example_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

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
  ReadOptions options;
  options.order = ShardOrder::kSequential;
  EXPECT_EQ(labels_of(read_all({folder.write("0", shard("abc")), folder.write("1", ""), folder.write("2", shard("de"))},
                               options)),
            "a b c d e");
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
  const std::vector<Shard> shards = {
      {"unread", 0}, {folder.write("1", shard("a")), 0}, {"unread", 0}, {folder.write("3", shard("bc")), 0}};
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

TEST(ExampleStream, TakesBothLineEndsAndNoneAtTheEnd) {
  const Folder folder;
  const auto expected = read_all({folder.write("lf", "a |f x y:2\nb |f z\n")});
  EXPECT_EQ(read_all({folder.write("crlf", "a |f x y:2\r\nb |f z\r\n")}), expected);
  EXPECT_EQ(read_all({folder.write("open", "a |f x y:2\nb |f z")}), expected);
}

TEST(ExampleStream, ManyExamplesOfOneLineStayTogether) {
  const Folder folder;
  ReadOptions options;
  options.multilabel = MultiLabel::kSplit;
  EXPECT_EQ(
      labels_of(read_all({folder.write("0", "1,2 1:1\n3 1:1\n"), folder.write("1", "4 1:1\n5,6 1:1\n")}, options)),
      "1 2 4 3 5 6");
}

TEST(ExampleStream, BatchesNormalizeAsTheOptionsSay) {
  const Folder folder;
  ReadOptions options;
  options.normalize = Normalize::kL2;
  EXPECT_EQ(read_all({folder.write("a", "y |f u:3 v:4\n")}, options)[0].x,
            features({{"f", "u", 0.6F}, {"f", "v", 0.8F}}));
}

TEST(ExampleStream, NamesWhatCannotBeRead) {
  const Folder folder;
  EXPECT_EQ(error_of(Fault::kNoInput, [&] { read_all({folder.path("gone")}); }),
            folder.path("gone") + ": open failed: No such file or directory");
  EXPECT_EQ(error_of(Fault::kNoInput, [&] { read_all({folder.path()}); }),
            folder.path() + ": read failed: Is a directory");
}

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
