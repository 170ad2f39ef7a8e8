#include "data/pipeline/read_ahead.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "data/folder.h"
#include "data/lines.h"
#include "data/reading.h"

namespace cpt {
namespace {

// What was handed out: per chunk, how many examples and how many bad lines by then.
struct Delivery {
  std::vector<Read> examples;
  std::vector<std::size_t> sizes;
  std::vector<std::uint64_t> bad_lines;
  std::vector<std::size_t> warnings;

  bool operator==(const Delivery&) const = default;
};

Delivery deliver(ReadAhead& ahead, std::chrono::microseconds pause = {}) {
  Delivery delivery;
  const auto note = [&] {
    delivery.bad_lines.push_back(ahead.bad_lines());
    delivery.warnings.push_back(ahead.take_warnings().size());
  };
  const Batch* previous = nullptr;
  std::vector<Read> of_previous;
  while (const Batch* chunk = ahead.next()) {
    std::this_thread::sleep_for(pause);
    if (previous != nullptr) {
      EXPECT_EQ(copies_of(*previous), of_previous) << "a chunk is valid until the call after the next";
    }
    delivery.sizes.push_back(chunk->size());
    previous = chunk;
    of_previous = copies_of(*chunk);
    delivery.examples.insert(delivery.examples.end(), of_previous.begin(), of_previous.end());
    note();
  }
  note();
  return delivery;
}

TEST(ReadAhead, DeliversWhatTheStreamReads) {
  const Folder folder;
  const std::vector<std::string> paths = {folder.write("0", numbered_lines(0, 3000)),
                                          folder.write("1", numbered_lines(0, 500))};
  ReadAhead ahead(stream_of(paths));
  const Delivery delivery = deliver(ahead);
  EXPECT_EQ(delivery.examples, read_all(paths));
  EXPECT_EQ(delivery.sizes, (std::vector<std::size_t>{1024, 1024, 1024, 428}));
  EXPECT_EQ(ahead.next(), nullptr) << "the end stays the end";
}

TEST(ReadAhead, DeliversTheSameInManyChunks) {
  const Folder folder;
  const std::vector<std::string> paths = {folder.write("0", numbered_lines(0, 3000))};
  for (const auto pause : {std::chrono::microseconds(0), std::chrono::microseconds(500)}) {
    ReadAhead ahead(stream_of(paths), {.examples = 100});
    const Delivery delivery = deliver(ahead, pause);
    EXPECT_EQ(delivery.examples, read_all(paths));
    EXPECT_EQ(delivery.sizes, std::vector<std::size_t>(30, 100));
  }
}

TEST(ReadAhead, AChunkEndsAtItsLimitOfFeatures) {
  const Folder folder;
  ReadAhead ahead(stream_of({folder.write("0", "a |f u v\nb |f u\nc |f u v w\nd |f u\n")}), {.features = 5});
  // The constant feature counts: 3 + 2, 4 + 2.
  EXPECT_EQ(deliver(ahead).sizes, (std::vector<std::size_t>{2, 2}));
}

// So that a resumed run continues with the same chunks.
TEST(ReadAhead, CutsAtTheSamePlacesWhereverItsStreamBegins) {
  const Folder folder;
  const Input input = input_of({folder.write("0", numbered_lines(0, 300)), folder.write("1", numbered_lines(0, 100))});
  const auto ends_from = [&](const std::vector<Cursor>& begin, std::size_t examples_before) {
    ReadAhead ahead(input.stream(begin), {.examples = 37, .features = 120});
    std::vector<std::size_t> ends;
    for (const std::size_t size : deliver(ahead).sizes) {
      ends.push_back((ends.empty() ? examples_before : ends.back()) + size);
    }
    return ends;
  };
  ExampleStream stream = input.stream();
  const Reading reading = read_lines(stream);
  std::vector<std::size_t> rest = ends_from({}, 0);
  ASSERT_EQ(reading.cursors.size(), 401U);
  for (std::size_t examples = 1; examples <= 400; ++examples) {
    std::erase_if(rest, [&](std::size_t end) { return end <= examples; });
    ASSERT_EQ(ends_from(reading.cursors[examples], examples), rest) << "after " << examples << " examples";
  }
}

TEST(ReadAhead, EmptyInputHasNoChunk) {
  const Folder folder;
  ReadAhead none(stream_of({}));
  EXPECT_EQ(none.next(), nullptr);
  ReadAhead blank(stream_of({folder.write("0", "\n\n"), folder.write("1", "")}));
  EXPECT_EQ(blank.next(), nullptr);
}

TEST(ReadAhead, ReportsDoNotDependOnTiming) {
  const Folder folder;
  std::string text = "0 |f a\n";
  for (int i = 1; i < 400; ++i) text += i % 9 == 0 ? "bad\n" : std::to_string(i) + " |f a\n";
  text += "bad\n";
  const auto run = [&](std::chrono::microseconds pause) {
    ReadAhead ahead(stream_of({folder.write("0", text)}, skipping()), {.examples = 50});
    return deliver(ahead, pause);
  };
  const Delivery eager = run({});
  const Delivery slow = run(std::chrono::milliseconds(2));
  EXPECT_EQ(eager, slow);
  // 8 good lines of 9: example 50 is line 56 (7 bad ones before are 9, ..., 54: 6).
  EXPECT_EQ(eager.bad_lines.front(), 6U);
  EXPECT_EQ(eager.bad_lines.back(), 45U);
}

TEST(ReadAhead, AnExceptionComesAfterAllExamplesBeforeIt) {
  const Folder folder;
  const std::string path = folder.write("0", numbered_lines(0, 100) + "bad\n" + numbered_lines(0, 100));
  ReadAhead ahead(stream_of({path}), {.examples = 30});
  std::size_t examples = 0;
  const auto read = [&] {
    while (const Batch* chunk = ahead.next()) examples += chunk->size();
  };
  const std::string reason =
      path + ":101:4: expected '|' before the features, found the end of the line" + read_as(Format::kVw);
  EXPECT_EQ(error_of(Fault::kBadData, read), reason);
  EXPECT_EQ(examples, 100U);
  EXPECT_EQ(error_of(Fault::kBadData, read), reason) << "and stays";
}

TEST(ReadAhead, MayEndAtAnyPoint) {
  const Folder folder;
  const std::string path = folder.write("0", numbered_lines(0, 5000));
  for (int chunks = 0; chunks < 8; ++chunks) {
    ReadAhead ahead(stream_of({path}), {.examples = 100});
    for (int i = 0; i < chunks; ++i) ASSERT_NE(ahead.next(), nullptr);
  }
}

TEST(ReadAhead, EndsInTheMiddleOfAnEndlessLine) { const ReadAhead ahead(stream_of({"/dev/zero"}, skipping())); }

}  // namespace
}  // namespace cpt
