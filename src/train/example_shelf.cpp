#include "train/example_shelf.h"

#include <algorithm>
#include <cstring>

#include "train/packed_bytes.h"

namespace cpt {

ExampleShelf::ExampleShelf(Communicator& comm, std::size_t bytes_of_round)
    : space_(comm, kRounds * bytes_of_round), bytes_of_round_(bytes_of_round) {}

void ExampleShelf::begin_round() {
  round_ = (round_ + 1) % kRounds;
  const Bytes all = space_.mine();
  room_ = all.empty() ? all : all.subspan(round_ * bytes_of_round_, bytes_of_round_);
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
  const RecordSpace record = ExampleRecord::begin(shape, room_.data());
  std::memcpy(record.features, x.features.data(), x.features.size_bytes());
  if (record.values != nullptr) std::memcpy(record.values, x.values.data(), x.values.size_bytes());
  put_bytes(put_bytes(record.tail, places.data(), places.size()), name.data(), name.size());
  const auto place = static_cast<std::uint64_t>(room_.data() - space_.mine().data()) / ExampleRecord::kAlignment;
  room_ = room_.subspan(bytes);
  return place;
}

}  // namespace cpt
