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

// Collective: every rank skips to the cursors of its stream, which in compressed shards takes long. Ranks that are
// still at it give a sign of life every second, so that the stall timeout holds for one that is stuck.
void skip_to_cursors(ExampleStream& stream, Communicator& comm);

// Cuts the chunks of a reader thread into slices.
class BatchReader {
 public:
  explicit BatchReader(ExampleStream stream);

  // Up to `most` examples (>= 1), all of one chunk; empty only at the end. Valid until the next but one call. Throws
  // what the reader threw, once all examples before it were handed out.
  Slice next(std::size_t most);
  // The same for examples whose position is below `position`; empty also where the next one's is not.
  Slice next_before(std::uint64_t position);
  // As next(), but what it hands out ends with a line, so that it may be longer by the examples of one line.
  Slice next_lines(std::size_t most);
  // Of the example that comes next, or kNoPosition at the end. Throws as they do.
  std::uint64_t next_position();
  static constexpr std::uint64_t kNoPosition = ~std::uint64_t{0};
  // Whether all examples were handed out. Known once one of these has been empty.
  bool ended() const { return ended_; }

  // As ReadAhead's: while one of these waits for what is not at hand. Then all that was handed out is in cursors().
  void call_while_waiting(std::function<void()> call) { chunks_.call_while_waiting(std::move(call)); }

  // Whether all examples of the line handed out last were handed out.
  bool at_line_end() const;
  // How far each of the stream's shards was handed out, parallel to its mine(): a stream that begins there gives the
  // rest. Only at_line_end(). A cursor is at the end of the last line handed out, so that bad lines behind it are not
  // counted yet; but once ended(), all are at the ends of their shards. Takes time for each example of one chunk.
  std::vector<Cursor> cursors() const;

  std::uint64_t error_lines() const { return chunks_.error_lines(); }
  std::vector<std::string> take_warnings() { return chunks_.take_warnings(); }
  // The part of all input that was handed out, in [0, 1]; negative if its size is not known.
  double part_read() const { return chunks_.part_read(); }

 private:
  bool fetch();
  Slice take(std::size_t end);
  bool is_inside_line(std::size_t i) const;
  void advance(std::vector<Cursor>& cursors) const;

  std::vector<std::size_t> index_of_shard_;  // by number: which of the cursors is its
  std::vector<Cursor> cursors_;              // before the current chunk
  ReadAhead chunks_;
  Slice rest_;  // of the current chunk
  bool ended_ = false;
};

}  // namespace cpt
