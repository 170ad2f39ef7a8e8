#include "train/partitioned/message_shelf.h"

#include <cstring>

#include "cpt/error.h"

namespace cpt {

std::optional<SharedMessageRing::Place> SharedMessageRing::put(int to, ConstBytes message) {
  if (message.size() < kLeastBytes || !rooms_.space().read_by(to)) return std::nullopt;
  std::byte* room = rooms_.take(message.size());
  if (room == nullptr) return std::nullopt;
  std::memcpy(room, message.data(), message.size());
  return Place{rooms_.offset_of(room), message.size()};
}

ConstBytes SharedMessageRing::get(int from, const Place& place) const {
  const ConstBytes shelf = rooms_.space().of(from);
  if (place.offset > shelf.size() || place.bytes > shelf.size() - place.offset) {
    throw Error(Fault::kFailed, "a message tells of another one that is not there");
  }
  return shelf.subspan(place.offset, place.bytes);
}

}  // namespace cpt
