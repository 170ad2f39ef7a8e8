// A rank's area of memory that ranks share, cut into rooms that it fills in turn.
#pragma once

#include <cstddef>

#include "comm/shared/shared_window.h"

namespace cpt {

// What is put into a room stays until the rank has begun as many more as there are.
class SharedRing {
 public:
  // Collective. bytes_of_room: a multiple of the alignment of what is put in.
  SharedRing(Communicator& comm, std::size_t rooms, std::size_t bytes_of_room)
      : space_(comm, rooms * bytes_of_room), rooms_(rooms), bytes_of_room_(bytes_of_room) {}

  const SharedWindow& space() const { return space_; }

  // Goes on to the next room, as if it were empty.
  void begin_next();
  // Memory in the room at hand; nullptr if there is not as much left, and then for all that comes later.
  std::byte* take(std::size_t bytes);
  // All that is left of it.
  Bytes left() const { return left_; }
  // Where in its area a part of it lies.
  std::size_t offset_of(const std::byte* at) const { return static_cast<std::size_t>(at - space_.mine().data()); }

 private:
  SharedWindow space_;
  std::size_t rooms_;
  std::size_t bytes_of_room_;
  std::size_t room_ = 0;  // modulo rooms_
  Bytes left_;
};

}  // namespace cpt
