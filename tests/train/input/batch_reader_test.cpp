// A rank's examples in pieces: all of them, in order, whatever the pieces.
#include "train/input/batch_reader.h"

#include <gtest/gtest.h>

#include "data/fifo.h"
#include "data/shards/shards.h"
#include "train/job.h"
#include "train/progress/renewals.h"

namespace cpt {
namespace {

ExampleStream stream_of(const std::string& path) {
  ReadOptions options;
  options.format = Format::kVw;
  return {find_shards({path}), {0}, options};
}

// The line numbers of all examples, taken at most so many at a time.
std::vector<std::uint64_t> lines_of(BatchReader& reader, std::size_t most) {
  std::vector<std::uint64_t> lines;
  for (;;) {
    const Slice slice = reader.next_before(Renewals::kNever, most);
    EXPECT_LE(slice.size(), most);
    if (slice.size() == 0) return lines;
    for (std::size_t i = slice.begin; i < slice.end; ++i) lines.push_back((*slice.batch)[i].origin.line);
  }
}

// More than a chunk of the reader, which is 1024 examples.
constexpr std::size_t kExamples = 2500;

TEST(BatchReader, GivesEveryExampleOnceInOrder) {
  const Folder folder;
  const std::string path = folder.write("shard", random_lines({.examples = kExamples}));
  for (const std::size_t most : {1U, 7U, 1000U, 1024U, 100000U}) {
    BatchReader reader(stream_of(path));
    const std::vector<std::uint64_t> lines = lines_of(reader, most);
    ASSERT_EQ(lines.size(), kExamples) << most;
    for (std::size_t i = 0; i < lines.size(); ++i) ASSERT_EQ(lines[i], i + 1);
    EXPECT_EQ(reader.next_before(Renewals::kNever, most).size(), 0U);
    EXPECT_EQ(reader.part_read(), 1);
  }
}

// All examples before a position, in as many pieces as it takes.
std::vector<Origin> origins_before(BatchReader& reader, std::uint64_t end) {
  std::vector<Origin> origins;
  for (Slice slice = reader.next_before({end}); slice.size() > 0; slice = reader.next_before({end})) {
    for (std::size_t i = slice.begin; i < slice.end; ++i) origins.push_back((*slice.batch)[i].origin);
  }
  return origins;
}

// Of shards with so many lines each, round by round of so many positions: everything once, by position, then shard.
void expect_in_global_order(const std::vector<std::size_t>& lengths, std::uint64_t positions) {
  const Folder folder;
  std::vector<std::string> paths;
  std::vector<std::uint32_t> numbers;
  std::uint64_t left = 0;
  for (const std::size_t length : lengths) {
    numbers.push_back(static_cast<std::uint32_t>(paths.size()));
    paths.push_back(folder.write("shard" + std::to_string(paths.size()), random_lines({.examples = length})));
    left += length;
  }
  ReadOptions options;
  options.format = Format::kVw;
  BatchReader reader({find_shards(paths), numbers, options});
  std::uint64_t position = 0;
  std::uint32_t shard = 0;
  for (std::uint64_t end = positions; !reader.ended(); end += positions) {
    for (const Origin& origin : origins_before(reader, end)) {
      for (; position != origin.position || shard != origin.shard;) {
        // Only what is not there may be left out.
        ASSERT_FALSE(position < lengths.at(shard)) << "position " << position << " of shard " << shard;
        if (++shard == lengths.size()) shard = 0, ++position;
      }
      ASSERT_LT(position, end);
      if (++shard == lengths.size()) shard = 0, ++position;
      --left;
    }
  }
  EXPECT_EQ(left, 0U);
}

TEST(ReaderBefore, GivesEveryPositionOfAllShardsInOrder) {
  for (const std::uint64_t positions : {1U, 3U, 500U, 10'000U}) {
    expect_in_global_order({kExamples}, positions);
    expect_in_global_order({700, 0, 1, 1100, 35, 700}, positions);
    expect_in_global_order({0}, positions);
  }
}

TEST(ReaderBefore, IsEmptyUntilItsTimeHasCome) {
  const Folder folder;
  BatchReader reader(stream_of(folder.write("shard", random_lines({.examples = 10}))));
  EXPECT_EQ(origins_before(reader, 4).size(), 4U);
  EXPECT_EQ(origins_before(reader, 4).size(), 0U);
  EXPECT_FALSE(reader.ended());
  EXPECT_EQ(origins_before(reader, 100).size(), 6U);
  EXPECT_TRUE(reader.ended());
}

// Examples of one line have one position, and are never cut apart.
TEST(ReaderBefore, KeepsLinesOfSeveralLabelsWhole) {
  const Folder folder;
  std::string lines;
  for (std::size_t i = 0; i < 900; ++i) lines += i % 2 == 0 ? "1,2,3 1:1\n" : "4 2:1\n";
  ReadOptions options;
  options.format = Format::kLibsvm;
  options.multilabel = MultiLabel::kSplit;
  BatchReader reader({find_shards({folder.write("shard", lines)}), {0}, options});
  for (std::uint64_t end = 1; end <= 900; ++end) {
    ASSERT_EQ(origins_before(reader, end).size(), end % 2 == 1 ? 3U : 1U) << "position " << end - 1;
  }
}

TEST(ReaderBefore, ThrowsAfterTheExamplesBefore) {
  const Folder folder;
  BatchReader reader(
      stream_of(folder.write("shard", random_lines({.examples = 10}) + "bad\n" + random_lines({.examples = 10}))));
  EXPECT_EQ(reader.next_before({10}).size(), 10U);
  EXPECT_THROW(reader.next_before({11}), Error);
}

TEST(BatchReader, AsksTimeAndAgainWhileItWaitsAndLosesNothing) {
  const Folder folder;
  Fifo pipe(folder / "pipe");
  constexpr std::size_t kChunk = 1024;
  pipe.write(random_lines({.examples = kChunk + 10}));
  BatchReader reader(stream_of(pipe.path()));
  int questions = 0;  // behind the first chunk
  bool stops = true;
  reader.call_while_waiting([&] {
    if (reader.cursors().at(0).examples == 0) return;
    EXPECT_EQ(reader.cursors().at(0).examples, kChunk);
    if (++questions % 2 == 0 && stops) throw Error(Fault::kStopped, "asked to stop");
  });
  EXPECT_EQ(reader.next_before(Renewals::kNever, 2 * kChunk).size(), kChunk);
  for (int i = 0; i < 2; ++i) EXPECT_THROW(reader.next_before(Renewals::kNever, 2 * kChunk), Error);
  EXPECT_EQ(questions, 4);
  stops = false;
  pipe.close();
  EXPECT_EQ(reader.next_before(Renewals::kNever, 2 * kChunk).size(), 10U);
  EXPECT_EQ(reader.next_before(Renewals::kNever, 2 * kChunk).size(), 0U);
  EXPECT_EQ(reader.cursors().at(0).examples, kChunk + 10);
}

// A round still trains the piece before the one it reads.
TEST(BatchReader, KeepsTheLastPieceButOne) {
  const Folder folder;
  BatchReader reader(stream_of(folder.write("shard", random_lines({.examples = kExamples}))));
  Slice before = reader.next_before(Renewals::kNever, 300);
  for (std::uint64_t line = 1; before.size() > 0;) {
    const Slice now = reader.next_before(Renewals::kNever, 300);
    for (std::size_t i = before.begin; i < before.end; ++i, ++line) ASSERT_EQ((*before.batch)[i].origin.line, line);
    before = now;
  }
}

}  // namespace
}  // namespace cpt
