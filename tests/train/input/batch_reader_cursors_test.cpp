// Readers that continue where another one was left, perhaps in the middle of a chunk.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "comm/alone.h"
#include "comm/interposed.h"
#include "data/packed.h"
#include "data/random_shards.h"
#include "data/shards/shards.h"
#include "train/input/batch_reader.h"
#include "train/job.h"
#include "train/progress/renewals.h"

namespace cpt {
namespace {

using Examples = std::vector<WholeExample>;

struct Input {
  std::vector<Shard> shards;
  std::vector<std::uint32_t> mine;
  ReadOptions options;

  ExampleStream stream(const std::vector<Cursor> &cursors = {}) const { return {shards, mine, options, cursors}; }
};

Input input_of(const std::vector<std::string> &paths, ReadOptions options) {
  Input input{find_shards(paths), std::vector<std::uint32_t>(paths.size()), std::move(options)};
  std::iota(input.mine.begin(), input.mine.end(), 0U);
  return input;
}

ReadOptions splitting() {
  ReadOptions options;
  options.multilabel = MultiLabel::kSplit;
  options.skip_bad_lines = true;
  return options;
}

void append(Slice slice, Examples &examples) {
  for (std::size_t i = slice.begin; i < slice.end; ++i) examples.push_back(whole((*slice.batch)[i]));
}

// Everything that is read, without a reader.
struct Expected {
  Examples examples;
  std::uint64_t bad_lines = 0;
  std::vector<Cursor> end;
};

Expected read_without_reader(const Input &input) {
  ExampleStream stream = input.stream();
  Batch batch = stream.make_batch();
  while (stream.read(batch)) {
  }
  Expected expected{{}, stream.bad_lines(), stream.cursors()};
  append({&batch, 0, batch.size()}, expected.examples);
  return expected;
}

std::uint64_t examples_in(const std::vector<Cursor> &cursors) {
  std::uint64_t examples = 0;
  for (const Cursor &cursor : cursors) examples += cursor.examples;
  return examples;
}

std::uint64_t bad_lines_in(const std::vector<Cursor> &cursors) {
  std::uint64_t bad_lines = 0;
  for (const Cursor &cursor : cursors) bad_lines += cursor.bad_lines;
  return bad_lines;
}

// A slice of any length, taken in any way, up to the end of a line.
void take_some(BatchReader &reader, RandomShards &random, Examples &examples) {
  const std::uint64_t most = 1 + random.below(random.below(4) == 0 ? 3000 : 30);
  switch (random.below(3)) {
    case 0: {
      const Slice slice = reader.next_lines(most);
      append(slice, examples);
      break;
    }
    case 1:
      append(reader.next_before({examples.empty() ? most : examples.back().origin.position + most}), examples);
      break;
    default:
      append(reader.next_before(Renewals::kNever, most), examples);
      while (!reader.at_line_end()) append(reader.next_before(Renewals::kNever, 1), examples);
  }
  ASSERT_TRUE(reader.at_line_end());
}

void expect_rest(const Input &input, const std::vector<Cursor> &cursors, const Expected &expected) {
  BatchReader reader(input.stream(cursors));
  ASSERT_EQ(reader.cursors(), cursors);
  Examples rest;
  while (!reader.ended()) append(reader.next_before(Renewals::kNever, 1000), rest);
  const auto done = static_cast<std::ptrdiff_t>(examples_in(cursors));
  ASSERT_EQ(rest.size(), expected.examples.size() - static_cast<std::size_t>(done));
  ASSERT_TRUE(std::equal(rest.begin(), rest.end(), expected.examples.begin() + done));
  ASSERT_EQ(reader.bad_lines(), expected.bad_lines);
  ASSERT_EQ(reader.cursors(), expected.end);
}

// One reader is left for the next one again and again, each after `slices_per_stop` slices on average.
void expect_to_be_left_anywhere(const Input &input, RandomShards &random, std::uint64_t slices_per_stop) {
  const Expected expected = read_without_reader(input);
  ASSERT_EQ(bad_lines_in(expected.end), expected.bad_lines);
  Examples examples;
  std::vector<Cursor> cursors(input.mine.size());
  for (bool ended = false; !ended;) {
    BatchReader reader(input.stream(cursors));
    do {
      ASSERT_NO_FATAL_FAILURE(take_some(reader, random, examples));
      ended = reader.ended();
    } while (!ended && random.below(slices_per_stop) != 0);
    cursors = reader.cursors();
    ASSERT_EQ(examples_in(cursors), examples.size());
    ASSERT_NO_FATAL_FAILURE(expect_rest(input, cursors, expected)) << "after " << examples.size();
  }
  EXPECT_TRUE(examples == expected.examples);
  EXPECT_EQ(cursors, expected.end);
}

Input random_input(const Folder &folder, RandomShards &random, std::uint64_t longest) {
  ReadOptions options = splitting();
  options.order = random.below(2) == 0 ? ShardOrder::kInterleaved : ShardOrder::kSequential;
  const bool one_format = random.below(2) == 0;
  auto format = static_cast<Format>(1 + random.below(3));
  if (one_format) options.format = format;
  std::vector<std::string> paths;
  for (std::uint64_t left = 1 + random.below(5); left > 0; --left) {
    if (!one_format) format = static_cast<Format>(1 + random.below(3));
    const std::string text = random.text(format, random.below(3) * random.below(longest / 2));
    paths.push_back(folder.write(std::to_string(left), random.packed(text)));
  }
  return input_of(paths, options);
}

TEST(ReaderCursors, LeadToTheRestFromAnywhere) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Folder folder;
    RandomShards random(seed);
    const Input input = random_input(folder, random, 100);
    ASSERT_NO_FATAL_FAILURE(expect_to_be_left_anywhere(input, random, 2));
  }
}

TEST(ReaderCursors, LeadToTheRestOfManyChunks) {
  for (std::uint64_t seed = 101; seed <= 108; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Folder folder;
    RandomShards random(seed);
    const Input input = random_input(folder, random, 3000);
    ASSERT_NO_FATAL_FAILURE(expect_to_be_left_anywhere(input, random, 10));
  }
}

TEST(ReaderCursors, TellTheEndOfLines) {
  const Folder folder;
  const Input input = input_of({folder.write("shard", "1,2,3 1:1\n4 2:1\n5,6 1:1\n")}, splitting());
  BatchReader reader(input.stream());
  EXPECT_TRUE(reader.at_line_end());
  for (const bool at_end : {false, false, true, true, false, true}) {
    EXPECT_EQ(reader.next_before(Renewals::kNever, 1).size(), 1U);
    EXPECT_EQ(reader.at_line_end(), at_end);
  }
  EXPECT_EQ(reader.next_before(Renewals::kNever, 1).size(), 0U);
  EXPECT_TRUE(reader.at_line_end());
}

// Lines of two shards follow one another with the same number.
TEST(ReaderCursors, SlicesOfWholeLinesAreLongerByNoMoreThanTheLine) {
  const Folder folder;
  const std::string lines = "1,2,3 1:1\n4 2:1\n5,6 1:1\n";
  const Input input = input_of({folder.write("a", lines), folder.write("b", lines)}, splitting());
  BatchReader reader(input.stream());
  EXPECT_EQ(reader.next_lines(2).size(), 3U);
  EXPECT_EQ(reader.next_lines(3).size(), 3U);
  EXPECT_EQ(reader.next_lines(1).size(), 1U);
  EXPECT_EQ(reader.next_lines(2).size(), 3U);
  EXPECT_EQ(reader.next_lines(100).size(), 2U);
  EXPECT_EQ(reader.next_lines(1).size(), 0U);
}

TEST(ReaderCursors, CountBadLinesUpToTheLastLineUntilTheEnd) {
  const Folder folder;
  ReadOptions options = splitting();
  options.format = Format::kLibsvm;
  const Input input =
      input_of({folder.write("a", ",,,\n1 1:1\n2 1:1\n,,,\n,,,\n"), folder.write("b", "\n,,,\n")}, options);
  BatchReader reader(input.stream());
  EXPECT_EQ(reader.cursors(), std::vector<Cursor>(2));
  ASSERT_EQ(reader.next_before(Renewals::kNever, 1).size(), 1U);
  EXPECT_EQ(reader.cursors(), (std::vector<Cursor>{{10, 2, 1, 1, 1, 2}, {}}));
  ASSERT_EQ(reader.next_before(Renewals::kNever, 1).size(), 1U);
  EXPECT_EQ(reader.cursors(), (std::vector<Cursor>{{16, 3, 2, 2, 1, 4}, {}}));
  EXPECT_FALSE(reader.ended());
  ASSERT_EQ(reader.next_before(Renewals::kNever, 1).size(), 0U);
  EXPECT_EQ(reader.cursors(), (std::vector<Cursor>{{24, 5, 2, 2, 3, 4}, {5, 2, 0, 0, 1, 0}}));
}

TEST(ReaderCursors, AreAtTheLastGoodLineAfterAnError) {
  const Folder folder;
  ReadOptions options = splitting();
  options.skip_bad_lines = false;
  const Input input = input_of({folder.write("a", "1 1:1\n2 1:1\n,bad\n3 1:1\n")}, options);
  BatchReader reader(input.stream());
  ASSERT_EQ(reader.next_before(Renewals::kNever, 10).size(), 2U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(reader.next_before(Renewals::kNever, 10), Error);
    EXPECT_EQ(reader.cursors(), (std::vector<Cursor>{{12, 2, 2, 2, 0, 4}}));
  }
}

// Else a rank that skips for long would be taken for one that is stuck.
TEST(SkipToCursors, CallsAllRanksSeveralTimesWithinTheStallTimeout) {
  constexpr std::uint64_t kLines = 20'000;
  constexpr std::uint64_t kMembers = 30;
  const Folder folder;
  const std::string lines = random_lines({.examples = kLines});
  const std::string member = gzip(lines);
  std::string packed;
  for (std::uint64_t i = 0; i < kMembers; ++i) packed += member;
  ReadOptions options;
  options.format = Format::kVw;
  const Input input = input_of({folder.write("shard", packed + gzip("a | x\n"))}, options);
  ExampleStream stream = input.stream({{.bytes = kMembers * lines.size(), .line = kMembers * kLines}});
  Alone alone;
  std::uint64_t calls = 0;
  Interposed comm(alone, [&](std::uint64_t) { ++calls; });
  comm.set_stall_timeout(std::chrono::milliseconds(4));
  skip_to_cursors(stream, comm);
  EXPECT_GT(calls, 5U);
  EXPECT_EQ(BatchReader(std::move(stream)).next_before(Renewals::kNever, 10).size(), 1U);
}

}  // namespace
}  // namespace cpt
