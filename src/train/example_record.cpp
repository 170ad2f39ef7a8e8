#include "train/example_record.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/checked.h"

namespace cpt {

namespace {

using Ones = std::array<float, ExampleRecord::kMostOnes>;

constexpr Ones make_ones() {
  Ones ones{};
  for (float& one : ones) one = 1;
  return ones;
}
constexpr Ones kOnes = make_ones();

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace

std::size_t ExampleRecord::value_bytes(const Head& head) {
  return (head.features & kHasValues) != 0 ? padded((head.features & ~kHasValues) * sizeof(float)) : 0;
}

RecordSpace ExampleRecord::extend(const Shape& shape, Buffer& out) {
  const bool with_values = shape.with_values || shape.features > kMostOnes;
  Head head{};
  head.features = narrow<std::uint32_t>(shape.features, "the features of an example");
  if (with_values) head.features |= kHasValues;
  head.places = narrow<std::uint32_t>(shape.places, "the length of a path");
  head.label_bytes = narrow<std::uint32_t>(shape.label_bytes, "the length of a label");
  head.importance = shape.importance;

  const std::size_t feature_bytes = shape.features * sizeof(FeatureHash);
  const std::size_t values = value_bytes(head);
  std::byte* at = out.extend(sizeof head + feature_bytes + values + padded(shape.places + shape.label_bytes)).data();
  std::memcpy(at, &head, sizeof head);
  RecordSpace space{};
  space.features = reinterpret_cast<FeatureHash*>(at + sizeof head);
  if (with_values) space.values = reinterpret_cast<float*>(at + sizeof head + feature_bytes);
  space.tail = at + sizeof head + feature_bytes + values;
  return space;
}

const std::byte* ExampleRecord::after_values() const {
  return at_ + sizeof(Head) + features() * sizeof(FeatureHash) + value_bytes(head());
}

ExampleView ExampleRecord::view() const {
  const std::size_t count = features();
  const std::byte* features_at = at_ + sizeof(Head);
  ExampleView x;
  x.features = {reinterpret_cast<const FeatureHash*>(features_at), count};
  x.values = {kOnes.data(), std::min(count, kMostOnes)};
  if ((head().features & kHasValues) != 0) {
    x.values = {reinterpret_cast<const float*>(features_at + count * sizeof(FeatureHash)), count};
  }
  x.importance = head().importance;
  return x;
}

std::span<const std::uint8_t> ExampleRecord::places() const {
  return {reinterpret_cast<const std::uint8_t*>(after_values()), head().places};
}

std::string_view ExampleRecord::label() const {
  return {reinterpret_cast<const char*>(after_values()) + head().places, head().label_bytes};
}

float ExampleRecord::importance() const { return head().importance; }

}  // namespace cpt
