// What a stream reads, line by line, and where it could be left.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "data/pipeline/example_stream.h"
#include "data/random_shards.h"
#include "data/shards/shards.h"

namespace cpt {

using Examples = std::vector<WholeExample>;

// The lines of a stream: the examples of each, and the cursors after it.
struct Reading {
  std::vector<Examples> lines;
  std::vector<std::vector<Cursor>> cursors;  // one more: [0] is where it began
  std::uint64_t bad_lines = 0;
  std::vector<Cursor> end;
};

inline Reading read_lines(ExampleStream& stream) {
  Reading reading;
  std::vector<Cursor> cursors = stream.cursors();
  reading.cursors.push_back(cursors);
  Batch batch = stream.make_batch();
  for (; stream.read(batch); batch.clear()) {
    Examples line;
    for (std::size_t i = 0; i < batch.size(); ++i) line.push_back(whole(batch[i]));
    const Origin& origin = batch.origin(0);
    const auto shard = std::find(stream.mine().begin(), stream.mine().end(), origin.shard);
    Cursor& cursor = cursors[static_cast<std::size_t>(shard - stream.mine().begin())];
    cursor = {origin.end,          origin.line,
              origin.position + 1, cursor.examples + line.size(),
              origin.bad_lines,    cursor.features + batch.features()};
    reading.lines.push_back(line);
    reading.cursors.push_back(cursors);
  }
  reading.bad_lines = stream.bad_lines();
  reading.end = stream.cursors();
  return reading;
}

// What a file holds, whichever way it is read.
struct Content {
  Examples examples;
  std::vector<std::string> warnings;
  std::uint64_t bad_lines = 0;
};

struct Input {
  std::vector<Shard> shards;
  std::vector<std::uint32_t> mine;
  ReadOptions options;

  ExampleStream stream(const std::vector<Cursor>& cursors = {}) const { return {shards, mine, options, cursors}; }
};

inline Input input_of(const std::vector<std::string>& paths, ReadOptions options = {}) {
  Input input{find_shards(paths), {}, std::move(options)};
  for (std::uint32_t i = 0; i < input.shards.size(); ++i) input.mine.push_back(i);
  return input;
}

// Left after any line, the rest is the rest.
inline void expect_to_go_on_anywhere(const Input& input) {
  ExampleStream all = input.stream();
  const Reading expected = read_lines(all);
  for (std::size_t done = 0; done < expected.cursors.size(); ++done) {
    ExampleStream rest = input.stream(expected.cursors[done]);
    if (done % 2 == 1) rest.go_to_cursors([] {});
    const Reading reading = read_lines(rest);
    const auto left = expected.lines.begin() + static_cast<std::ptrdiff_t>(done);
    ASSERT_EQ(reading.lines, std::vector<Examples>(left, expected.lines.end())) << "after line " << done;
    ASSERT_EQ(reading.bad_lines, expected.bad_lines) << "after line " << done;
    ASSERT_EQ(reading.end, expected.end) << "after line " << done;
    ASSERT_EQ(rest.part_read(), 1) << "after line " << done;
  }
  ExampleStream none = input.stream(expected.end);
  none.go_to_cursors([] {});
  const Reading reading = read_lines(none);
  EXPECT_EQ(reading.lines.size(), 0U);
  EXPECT_EQ(reading.bad_lines, expected.bad_lines);
  EXPECT_EQ(reading.end, expected.end);
}

}  // namespace cpt
