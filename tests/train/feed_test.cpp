// A rank's examples in pieces: all of them, in order, whatever the pieces.
#include "train/feed.h"

#include <gtest/gtest.h>

#include "data/shards.h"
#include "train/job.h"

namespace cpt {
namespace {

ExampleStream stream_of(const std::string& path) {
  ReadOptions options;
  options.format = Format::kVw;
  return {find_shards({path}), {0}, options};
}

// The line numbers of all examples, taken at most so many at a time.
std::vector<std::uint64_t> lines_of(Feed& feed, std::size_t most) {
  std::vector<std::uint64_t> lines;
  for (;;) {
    const Slice slice = feed.next(most);
    EXPECT_LE(slice.size(), most);
    if (slice.size() == 0) return lines;
    for (std::size_t i = slice.begin; i < slice.end; ++i) lines.push_back((*slice.batch)[i].origin.line);
  }
}

// More than a chunk of the reader, which is 1024 examples.
constexpr std::size_t kExamples = 2500;

TEST(Feed, GivesEveryExampleOnceInOrder) {
  const Folder folder;
  const std::string path = folder.write("shard", random_lines({.examples = kExamples}));
  for (const std::size_t most : {1U, 7U, 1000U, 1024U, 100000U}) {
    Feed feed(stream_of(path));
    const std::vector<std::uint64_t> lines = lines_of(feed, most);
    ASSERT_EQ(lines.size(), kExamples) << most;
    for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], i + 1);
    EXPECT_EQ(feed.next(most).size(), 0U);
    EXPECT_EQ(feed.part_read(), 1);
  }
}

// A round still trains the piece before the one it reads.
TEST(Feed, KeepsTheLastPieceButOne) {
  const Folder folder;
  Feed feed(stream_of(folder.write("shard", random_lines({.examples = kExamples}))));
  Slice before = feed.next(300);
  for (std::uint64_t line = 1; before.size() > 0;) {
    const Slice now = feed.next(300);
    for (std::size_t i = before.begin; i < before.end; ++i, ++line) ASSERT_EQ((*before.batch)[i].origin.line, line);
    before = now;
  }
}

TEST(Feed, ThrowsAfterTheExamplesBeforeAndAgain) {
  const Folder folder;
  Feed feed(
      stream_of(folder.write("shard", random_lines({.examples = 10}) + "bad\n" + random_lines({.examples = 10}))));
  EXPECT_EQ(feed.next(6).size(), 6U);
  EXPECT_EQ(feed.next(6).size(), 4U);
  EXPECT_THROW(feed.next(6), Error);
  EXPECT_THROW(feed.next(6), Error);
}

}  // namespace
}  // namespace cpt
