// The examples of one rank in one pass, in pieces of any length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "data/read_ahead.h"
#include "model/in_order.h"

namespace cpt {

// Cuts the chunks of a reader thread into slices.
class Feed {
 public:
  explicit Feed(ExampleStream stream) : chunks_(std::move(stream)) {}

  // Up to `most` examples (>= 1), all of one chunk; empty only at the end. Valid until the next but one call. Throws
  // what the reader threw, once all examples before it were handed out.
  Slice next(std::size_t most);
  // The same for examples whose position is below `end`; empty also where the next one's is not.
  Slice next_before(std::uint64_t end);
  // Whether all examples were handed out. Known once next() or next_before() has been empty.
  bool ended() const { return ended_; }

  std::uint64_t error_lines() const { return chunks_.error_lines(); }
  std::vector<std::string> take_warnings() { return chunks_.take_warnings(); }
  // The part of all input that was handed out, in [0, 1]; negative if its size is not known.
  double part_read() const { return chunks_.part_read(); }

 private:
  bool fetch();

  ReadAhead chunks_;
  Slice rest_;  // of the current chunk
  bool ended_ = false;
};

}  // namespace cpt
