#include "data/pipeline/ordered_parallel_map.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "data/fifo.h"
#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

// Work that notes, by slot, the labels it has seen, takes longer for some than for others, and fails at one label.
class Notes {
 public:
  explicit Notes(std::size_t threads, std::string bad_label = "")
      : bad_label_(std::move(bad_label)),
        labels_(OrderedParallelMap::slots(threads)),
        slots_in_use_(OrderedParallelMap::slots(threads)),
        workers_in_use_(threads) {}

  OrderedParallelMap::Work work() {
    return [this](std::size_t worker, std::size_t slot, const ExampleView& x) {
      EXPECT_FALSE(workers_in_use_[worker].exchange(true));
      EXPECT_FALSE(slots_in_use_[slot].exchange(true));
      if (x.label_hash % 16 == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      ++examples_;
      if (x.label != bad_label_) labels_[slot].emplace_back(x.label);
      slots_in_use_[slot] = false;
      workers_in_use_[worker] = false;
      if (x.label == bad_label_) throw std::runtime_error("bad label");
    };
  }

  // Those of a chunk that was handed out.
  std::vector<std::string> take(const Chunk& chunk) { return std::exchange(labels_[chunk.slot], {}); }
  std::size_t examples() const { return examples_; }

 private:
  std::string bad_label_;
  std::vector<std::vector<std::string>> labels_;
  std::vector<std::atomic<bool>> slots_in_use_;
  std::vector<std::atomic<bool>> workers_in_use_;
  std::atomic<std::size_t> examples_ = 0;
};

TEST(OrderedParallelMap, HandsOutWhatWasReadAndWorkedOnInOrder) {
  const Folder folder;
  const std::vector<std::string> paths = {folder.write("0", numbered_lines(0, 1500)),
                                          folder.write("1", numbered_lines(1500, 1600))};
  const std::vector<Read> expected = read_all(paths);
  for (const std::size_t threads : {1U, 2U, 5U}) {
    Notes notes(threads);
    OrderedParallelMap ahead(stream_of(paths), threads, notes.work(), {.examples = 20});
    std::vector<Read> examples;
    std::vector<std::string> labels;
    while (const Chunk* chunk = ahead.next()) {
      EXPECT_LE(chunk->batch.size(), 20U);
      EXPECT_EQ(chunk->done, chunk->batch.size());
      for (Read& read : copies_of(chunk->batch)) examples.push_back(std::move(read));
      for (std::string& label : notes.take(*chunk)) labels.push_back(std::move(label));
    }
    EXPECT_EQ(examples, expected);
    ASSERT_EQ(labels.size(), expected.size());
    for (std::size_t i = 0; i < labels.size(); ++i) ASSERT_EQ(labels[i], expected[i].label);
    EXPECT_EQ(ahead.next(), nullptr) << "the end stays the end";
  }
}

TEST(OrderedParallelMap, FewExamplesAreWorkForAllThreads) {
  const Folder folder;
  Notes notes(4);
  OrderedParallelMap ahead(stream_of({folder.write("0", numbered_lines(0, 8))}), 4, notes.work());
  std::vector<std::size_t> sizes;
  while (const Chunk* chunk = ahead.next()) sizes.push_back(chunk->batch.size());
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 1, 1, 1, 2, 2}));
}

TEST(OrderedParallelMap, AChunkEndsAtItsLimitOfFeatures) {
  const Folder folder;
  Notes notes(1);
  OrderedParallelMap ahead(stream_of({folder.write("0", numbered_lines(0, 1000))}), 1, notes.work(), {.features = 10});
  std::size_t examples = 0;
  while (const Chunk* chunk = ahead.next()) {
    EXPECT_LE(chunk->batch.features(), 10U + 7U);
    examples += chunk->batch.size();
  }
  EXPECT_EQ(examples, 1000U);
}

TEST(OrderedParallelMap, ReadsNoFurtherThanItsSlots) {
  const Folder folder;
  Notes notes(2);
  OrderedParallelMap ahead(stream_of({folder.write("0", numbered_lines(0, 5000))}), 2, notes.work(), {.examples = 3});
  ASSERT_NE(ahead.next(), nullptr);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_LE(notes.examples(), 3 * OrderedParallelMap::slots(2));
}

TEST(OrderedParallelMap, WhatWasSkippedIsToldBeforeTheExamplesBehindIt) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 200; ++i) text += i % 9 == 8 ? "bad\n" : numbered_lines(i, i + 1);
  text += "bad\n";
  Notes notes(3);
  OrderedParallelMap ahead(stream_of({folder.write("0", text)}, skipping()), 3, notes.work());
  std::size_t warnings = 0;
  std::uint64_t bad_lines = 0;
  while (const Chunk* chunk = ahead.next()) {
    warnings += chunk->warnings.size();
    bad_lines = chunk->bad_lines;
    for (std::size_t i = 0; i < chunk->batch.size(); ++i) {
      ASSERT_EQ(bad_lines, (chunk->batch.origin(i).line - 1) / 9) << chunk->batch.origin(i).line;
    }
  }
  EXPECT_EQ(bad_lines, 23U);
  EXPECT_EQ(warnings, ExampleStream::kWarnings);
}

TEST(OrderedParallelMap, AFailureToReadComesAfterAllExamplesBeforeIt) {
  const Folder folder;
  const std::string path = folder.write("0", numbered_lines(0, 100) + "bad\n" + numbered_lines(0, 100));
  Notes notes(3);
  OrderedParallelMap ahead(stream_of({path}), 3, notes.work());
  std::size_t examples = 0;
  const auto take_all = [&] {
    while (const Chunk* chunk = ahead.next()) examples += chunk->done;
  };
  const std::string reason =
      path + ":101:4: expected '|' before the features, found the end of the line" + read_as(Format::kVw);
  EXPECT_EQ(error_of(Fault::kBadData, take_all), reason);
  EXPECT_EQ(examples, 100U);
  EXPECT_EQ(error_of(Fault::kBadData, take_all), reason) << "and stays";
}

TEST(OrderedParallelMap, AFailureToWorkIsToldInItsPlace) {
  const Folder folder;
  Notes notes(3, "57");
  OrderedParallelMap ahead(stream_of({folder.write("0", numbered_lines(0, 1000))}), 3, notes.work());
  std::size_t examples = 0;
  const Chunk* chunk = nullptr;
  do {
    chunk = ahead.next();
    ASSERT_NE(chunk, nullptr);
    examples += chunk->done;
    EXPECT_EQ(notes.take(*chunk).size(), chunk->done);
  } while (!chunk->failure);
  EXPECT_EQ(examples, 57U);
  EXPECT_THROW(chunk->failure.rethrow(), std::runtime_error);
}

TEST(OrderedParallelMap, MayEndAtAnyPoint) {
  const Folder folder;
  const std::string path = folder.write("0", numbered_lines(0, 3000));
  for (int chunks = 0; chunks < 8; ++chunks) {
    Notes notes(2);
    OrderedParallelMap ahead(stream_of({path}), 2, notes.work(), {.examples = 10});
    for (int i = 0; i < chunks; ++i) ASSERT_NE(ahead.next(), nullptr);
  }
}

TEST(OrderedParallelMap, EmptyInputHasNoChunk) {
  const Folder folder;
  Notes notes(2);
  OrderedParallelMap ahead(stream_of({folder.write("0", "\n\n")}), 2, notes.work());
  EXPECT_EQ(ahead.next(), nullptr);
}

TEST(OrderedParallelMap, ASlowPipeIsAnsweredAsFarAsItGoes) {
  const Folder folder;
  Fifo pipe(folder.path("pipe"));
  Notes notes(2);
  OrderedParallelMap ahead(stream_of({pipe.path()}), 2, notes.work());
  for (int round = 0; round < 300; round += 30) {
    // The last line is cut off by the pipe.
    const std::string text = numbered_lines(round, round + 30);
    pipe.write(text.substr(0, text.size() - 3));
    std::size_t examples = 0;
    const auto take_until = [&](std::size_t count) {
      const Chunk* chunk = nullptr;
      do {
        chunk = ahead.next();
        ASSERT_NE(chunk, nullptr);
        examples += chunk->done;
      } while (examples < count || !chunk->input_waits);
      EXPECT_EQ(examples, count);
    };
    ASSERT_NO_FATAL_FAILURE(take_until(29));
    pipe.write(text.substr(text.size() - 3));
    ASSERT_NO_FATAL_FAILURE(take_until(30));
  }
}

TEST(OrderedParallelMap, ASilentPipeDoesNotHoldUpTheEnd) {
  const Folder folder;
  Fifo pipe(folder.path("pipe"));
  pipe.write("a |f x\nb");
  Notes notes(2);
  OrderedParallelMap ahead(stream_of({pipe.path()}), 2, notes.work());
  ASSERT_NE(ahead.next(), nullptr);
}

}  // namespace
}  // namespace cpt
