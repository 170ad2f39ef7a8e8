#include "train/feed.h"

#include <algorithm>

namespace cpt {

Slice Feed::next(std::size_t most) {
  if (rest_.size() == 0) {
    const Batch* chunk = chunks_.next();
    if (chunk == nullptr) return {};
    rest_ = {chunk, 0, chunk->size()};
  }
  Slice slice = rest_;
  slice.end = std::min(slice.end, slice.begin + most);
  rest_.begin = slice.end;
  return slice;
}

}  // namespace cpt
