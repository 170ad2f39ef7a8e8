#include "train/feed.h"

#include <algorithm>

namespace cpt {

// Makes sure that there is a rest to hand out; false at the end.
bool Feed::fetch() {
  if (rest_.size() > 0) return true;
  const Batch* chunk = chunks_.next();
  ended_ = chunk == nullptr;
  if (!ended_) rest_ = {chunk, 0, chunk->size()};
  return !ended_;
}

Slice Feed::next(std::size_t most) {
  if (!fetch()) return {};
  Slice slice = rest_;
  slice.end = std::min(slice.end, slice.begin + most);
  rest_.begin = slice.end;
  return slice;
}

Slice Feed::next_before(std::uint64_t end) {
  if (!fetch()) return {};
  Slice slice = rest_;
  slice.end = slice.begin;
  while (slice.end < rest_.end && (*slice.batch)[slice.end].origin.position < end) ++slice.end;
  rest_.begin = slice.end;
  return slice;
}

}  // namespace cpt
