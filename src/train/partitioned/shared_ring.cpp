#include "train/partitioned/shared_ring.h"

namespace cpt {

void SharedRing::begin_next() {
  room_ = (room_ + 1) % rooms_;
  const Bytes all = space_.mine();
  left_ = all.empty() ? all : all.subspan(room_ * bytes_of_room_, bytes_of_room_);
}

std::byte* SharedRing::take(std::size_t bytes) {
  if (bytes > left_.size()) left_ = {};
  if (left_.empty()) return nullptr;
  std::byte* taken = left_.data();
  left_ = left_.subspan(bytes);
  return taken;
}

}  // namespace cpt
