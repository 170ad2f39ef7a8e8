// The examples of one rank in one pass, in pieces of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "comm/communicator.h"
#include "data/pipeline/read_ahead.h"
#include "data/shards/shards.h"
#include "model/learning/in_order.h"

namespace cpt {

// Skips to the cursors of the stream, which takes long in compressed shards. Collective: all ranks call one another
// once a second and several times within the stall timeout, so the timeout still finds a rank that is stuck.
void skip_to_cursors(ExampleStream& stream, Communicator& comm);

// Where the order of all examples is cut: before line `position` of shard `shard`. Of two lines at the same position
// that of the lower shard comes first.
struct StreamOffset {
  std::uint64_t position = 0;
  std::uint32_t shard = 0;
  bool operator==(const StreamOffset&) const = default;
  bool operator<(const StreamOffset& other) const {
    return position < other.position || (position == other.position && shard < other.shard);
  }
};

// How many lines of a shard were handed out.
struct ShardPosition {
  std::uint64_t position;
  std::uint64_t shard;
};

// Cuts the chunks of a reader thread into slices.
class BatchReader {
 public:
  explicit BatchReader(ExampleStream stream);

  // Up to `most` examples (>= 1) before `offset`, all of one chunk; empty only at the end, or if the next example is
  // not before `offset`. Valid until the next call but one. Throws the reader's error after all examples before it.
  Slice next_before(const StreamOffset& offset, std::size_t most = ~std::size_t{0});
  // The same without an offset, and always up to the end of a line: the slice may exceed `most` (>= 1) by the examples
  // of one line. Empty only at the end.
  Slice next_lines(std::size_t most);
  // The position of the next example, or kNoPosition at the end. Throws as next_before().
  std::uint64_t next_position();
  static constexpr std::uint64_t kNoPosition = ~std::uint64_t{0};
  // Whether all examples were handed out. Known once a slice was empty.
  bool ended() const { return ended_; }

  // As in ReadAhead: `call` is called while a function above waits for input. cursors() then cover all examples handed
  // out.
  void call_while_waiting(std::function<void()> call) { chunks_.call_while_waiting(std::move(call)); }

  // Whether all examples of the line handed out last were handed out.
  bool at_line_end() const;
  // How far each of the stream's shards was handed out, parallel to its mine(): a stream that begins there gives the
  // rest. Call only if at_line_end(). A cursor is at the end of the last line handed out, so bad lines after it are
  // not counted yet; once ended(), all are at the ends of their shards. Takes time for each example of one chunk.
  std::vector<Cursor> cursors() const;
  // The positions of cursors(), with their shards.
  std::vector<ShardPosition> positions() const;

  std::uint64_t bad_lines() const { return chunks_.bad_lines(); }
  std::vector<std::string> take_warnings() { return chunks_.take_warnings(); }
  // The part of all input that was read, also what was read ahead, in [0, 1]; negative if its size is not known.
  double part_read() const { return chunks_.part_read(); }

 private:
  bool fetch();
  Slice take(std::size_t end);
  bool is_inside_line(std::size_t i) const;
  void advance(std::vector<Cursor>& cursors) const;

  std::vector<std::uint32_t> shards_;
  std::vector<std::size_t> index_of_shard_;  // by number of the shard: the index of its cursor
  std::vector<Cursor> cursors_;              // before the current chunk
  ReadAhead chunks_;
  Slice rest_;  // of the current chunk
  bool ended_ = false;
};

}  // namespace cpt
