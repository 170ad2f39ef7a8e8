#include "train/input/batch_reader.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "comm/collectives.h"

namespace cpt {
namespace {

std::vector<std::size_t> index_by_shard(const std::vector<std::uint32_t>& shards) {
  std::vector<std::size_t> index(shards.empty() ? 0 : std::size_t{shards.back()} + 1);
  for (std::size_t i = 0; i < shards.size(); ++i) index[shards[i]] = i;
  return index;
}

}  // namespace

void skip_to_cursors(ExampleStream& stream, Communicator& comm) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kHeartbeat = std::chrono::seconds(1);
  const auto all_are_done = [&comm](bool done) {
    const auto all = all_gather_value(comm, std::uint8_t{done}, "skip to the checkpoint");
    return std::ranges::find(all, std::uint8_t{false}) == all.end();
  };
  const auto timeout = comm.stall_timeout();  // 0: none
  const auto interval = timeout.count() == 0 ? kHeartbeat : std::min<Clock::duration>(kHeartbeat, timeout / 4);
  auto last = Clock::now();
  stream.go_to_cursors([&] {
    if (Clock::now() - last < interval) return;
    all_are_done(false);
    last = Clock::now();
  });
  while (!all_are_done(true)) {
  }
}

BatchReader::BatchReader(ExampleStream stream)
    : shards_(stream.mine()),
      index_of_shard_(index_by_shard(shards_)),
      cursors_(stream.cursors()),
      chunks_(std::move(stream)) {}

// Fetches a chunk if the current one is used up. Returns false at the end.
bool BatchReader::fetch() {
  if (rest_.size() > 0) return true;
  if (ended_) return false;
  advance(cursors_);
  rest_ = {};
  const Batch* chunk = chunks_.next();
  ended_ = chunk == nullptr;
  if (ended_) {
    cursors_ = chunks_.final_cursors();
  } else {
    rest_ = {chunk, 0, chunk->size()};
  }
  return !ended_;
}

Slice BatchReader::take(std::size_t end) {
  const Slice slice{rest_.batch, rest_.begin, end};
  rest_.begin = end;
  return slice;
}

std::uint64_t BatchReader::next_position() { return fetch() ? rest_.batch->origin(rest_.begin).position : kNoPosition; }

Slice BatchReader::next_before(const StreamOffset& offset, std::size_t most) {
  if (!fetch()) return {};
  const std::size_t last = rest_.begin + std::min(most, rest_.size());
  std::size_t end = rest_.begin;
  const auto offset_of = [&](std::size_t i) {
    const Origin& origin = rest_.batch->origin(i);
    return StreamOffset{origin.position, origin.shard};
  };
  while (end < last && offset_of(end) < offset) ++end;
  return take(end);
}

Slice BatchReader::next_lines(std::size_t most) {
  if (!fetch()) return {};
  std::size_t end = rest_.begin + std::min(most, rest_.size());
  while (is_inside_line(end)) ++end;
  return take(end);
}

bool BatchReader::at_line_end() const { return !is_inside_line(rest_.begin); }

// Whether examples i - 1 and i of the current chunk are of one line. Chunks end with lines.
bool BatchReader::is_inside_line(std::size_t i) const {
  if (i == 0 || i == rest_.end) return false;
  const Origin& before = rest_.batch->origin(i - 1);
  const Origin& after = rest_.batch->origin(i);
  return before.line == after.line && before.shard == after.shard;
}

// Moves cursors by the examples handed out of the current chunk.
void BatchReader::advance(std::vector<Cursor>& cursors) const {
  for (std::size_t i = 0; i < rest_.begin; ++i) {
    const Origin& origin = rest_.batch->origin(i);
    Cursor& cursor = cursors[index_of_shard_[origin.shard]];
    cursor.bytes = origin.end;
    cursor.line = origin.line;
    cursor.position = origin.position + 1;
    cursor.bad_lines = origin.bad_lines;
    cursor.features += rest_.batch->features_of(i);
    ++cursor.examples;
  }
}

std::vector<Cursor> BatchReader::cursors() const {
  std::vector<Cursor> cursors = cursors_;
  advance(cursors);
  return cursors;
}

std::vector<ShardPosition> BatchReader::positions() const {
  const std::vector<Cursor> at = cursors();
  std::vector<ShardPosition> positions;
  for (std::size_t i = 0; i < at.size(); ++i) positions.push_back({at[i].position, shards_[i]});
  return positions;
}

}  // namespace cpt
