#include "train/example_shelf.h"

#include <algorithm>
#include <cstring>

#include "train/packed_bytes.h"

namespace cpt {

namespace {
constexpr std::size_t kBytesAhead = 2048;
}

ExampleShelf::ExampleShelf(Communicator& comm, std::size_t bytes_of_round)
    : space_(comm, kRounds * bytes_of_round), bytes_of_round_(bytes_of_round) {}

void ExampleShelf::begin_round() {
  round_ = (round_ + 1) % kRounds;
  const Bytes all = space_.mine();
  room_ = all.empty() ? all : all.subspan(round_ * bytes_of_round_, bytes_of_round_);
}

// What lies there is from rounds ago, and in the caches of the ranks that have read it: a write would wait until they
// have let go of it. On x86 only an instruction of its own asks them to (processors that do not know it pass over it).
#ifdef __x86_64__
[[gnu::target("prfchw")]]
#endif
void ExampleShelf::prefetch_room(std::size_t bytes) const {
  if (room_.size() < kBytesAhead + bytes) return;
  const std::byte* ahead = room_.data() + kBytesAhead;
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(ahead + at, 1);
}

std::optional<std::uint64_t> ExampleShelf::put(const ExampleView& x, std::span<const std::uint8_t> places,
                                               std::string_view name) {
  const bool plain = std::ranges::all_of(x.values, [](float value) { return value == 1; });
  const ExampleRecord::Shape shape{.features = x.features.size(),
                                   .with_values = !plain,
                                   .places = places.size(),
                                   .label_bytes = name.size(),
                                   .importance = x.importance};
  const std::size_t bytes = ExampleRecord::bytes(shape);
  if (bytes > room_.size()) {
    room_ = {};
    return std::nullopt;
  }
  prefetch_room(bytes);
  const RecordSpace record = ExampleRecord::begin(shape, room_.data());
  std::memcpy(record.features, x.features.data(), x.features.size_bytes());
  if (record.values != nullptr) std::memcpy(record.values, x.values.data(), x.values.size_bytes());
  put_bytes(put_bytes(record.tail, places.data(), places.size()), name.data(), name.size());
  const auto place = static_cast<std::uint64_t>(room_.data() - space_.mine().data()) / ExampleRecord::kAlignment;
  room_ = room_.subspan(bytes);
  return place;
}

}  // namespace cpt
