#include "train/partitioned/example/example_record.h"

#include <cstring>

#include "model/tree/blocks.h"

namespace cpt {

namespace {

template <std::size_t kCount>
constexpr std::array<float, kCount> make_ones() {
  std::array<float, kCount> ones{};
  for (float& one : ones) one = 1;
  return ones;
}

void copy(const void* from, std::size_t bytes, void* to) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

// Positions are used as indices. All steps but the last leave their block for another.
void check_path(std::span<const std::uint8_t> path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::uint8_t least = i + 1 < path.size() ? kLastSlot + 1 : 1;
    if (path[i] < least || path[i] > 31) throw_protocol_error("unknown position " + std::to_string(path[i]));
  }
}

}  // namespace

constinit const std::array<float, ExampleRecord::kMostOnes> ExampleRecord::kOnes = make_ones<kMostOnes>();

std::size_t ExampleRecord::checked_bytes(ConstBytes from) {
  if (from.size() < kLeastBytes) throw_protocol_error("an example is cut short");
  const ExampleRecord record(from.data());
  const Head& head = record.head();
  if (!record.has_values() && record.features() > kMostOnes) {
    throw_protocol_error("an example of " + std::to_string(record.features()) + " features has no values");
  }
  const std::size_t bytes = bytes_of(head);
  if (bytes > from.size()) throw_protocol_error("an example is cut short");
  check_path(record.path());
  return bytes;
}

ExampleRecord::Shape ExampleRecord::shape_of(const Parts& parts) {
  // No early exit: which value is the first that is not 1 cannot be predicted.
  bool plain = true;
  for (const float value : parts.x.values) plain &= value == 1;
  return {.features = parts.x.features.size(),
          .with_values = !plain,
          .with_rarities = !parts.rarities.empty(),
          .path_blocks = parts.path.size(),
          .label_bytes = parts.label.size(),
          .importance = parts.x.importance};
}

void ExampleRecord::write(const Shape& shape, const Parts& parts, std::byte* at) {
  const Head& head = *new (at) Head(head_of(shape));
  std::byte* const path_at = at + sizeof head;
  std::byte* const features_at = path_at + path_bytes(head);
  std::byte* const values_at = features_at + feature_bytes(head);
  std::byte* const rarities_at = values_at + value_bytes(head);
  copy(parts.path.data(), parts.path.size(), path_at);
  copy(parts.x.features.data(), parts.x.features.size_bytes(), features_at);
  if (value_bytes(head) > 0) copy(parts.x.values.data(), parts.x.values.size_bytes(), values_at);
  copy(parts.rarities.data(), parts.rarities.size(), rarities_at);
  copy(parts.label.data(), parts.label.size(), rarities_at + rarity_bytes(head));
}

std::string_view ExampleRecord::label() const {
  const std::byte* before_label =
      at_ + sizeof(Head) + path_bytes(head()) + feature_bytes(head()) + value_bytes(head()) + rarity_bytes(head());
  return {reinterpret_cast<const char*>(before_label), head().label_bytes};
}

void throw_protocol_error(const std::string& reason) { throw Error(Fault::kFailed, "protocol error: " + reason); }

}  // namespace cpt
