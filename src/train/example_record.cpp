#include "train/example_record.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/checked.h"
#include "cpt/error.h"

namespace cpt {

namespace {

using Ones = std::array<float, ExampleRecord::kMostOnes>;

constexpr Ones make_ones() {
  Ones ones{};
  for (float& one : ones) one = 1;
  return ones;
}
constexpr Ones kOnes = make_ones();

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + ExampleRecord::kAlignment - 1) / ExampleRecord::kAlignment * ExampleRecord::kAlignment;
}

}  // namespace

ExampleRecord::ExampleRecord(ConstBytes shelf, std::uint64_t place) {
  if (place >= shelf.size() / kAlignment)
    throw Error(Fault::kFailed, "a message tells of an example that is not there");
  at_ = shelf.data() + place * kAlignment;
}

ExampleRecord::Head ExampleRecord::head_of(const Shape& shape) {
  Head head{};
  head.features = narrow<std::uint32_t>(shape.features, "the features of an example");
  if (shape.with_values || shape.features > kMostOnes) head.features |= kHasValues;
  head.places = narrow<std::uint32_t>(shape.places, "the length of a path");
  head.label_bytes = narrow<std::uint32_t>(shape.label_bytes, "the length of a label");
  head.importance = shape.importance;
  return head;
}

std::size_t ExampleRecord::feature_bytes(const Head& head) {
  return (head.features & ~kHasValues) * sizeof(FeatureHash);
}

std::size_t ExampleRecord::value_bytes(const Head& head) {
  return (head.features & kHasValues) != 0 ? padded((head.features & ~kHasValues) * sizeof(float)) : 0;
}

std::size_t ExampleRecord::bytes(const Shape& shape) {
  const Head head = head_of(shape);
  return sizeof head + feature_bytes(head) + value_bytes(head) + padded(shape.places + shape.label_bytes);
}

RecordSpace ExampleRecord::begin(const Shape& shape, std::byte* at) {
  const Head head = head_of(shape);
  std::memcpy(at, &head, sizeof head);
  std::byte* values = at + sizeof head + feature_bytes(head);
  RecordSpace space{};
  space.features = reinterpret_cast<FeatureHash*>(at + sizeof head);
  if (value_bytes(head) > 0) space.values = reinterpret_cast<float*>(values);
  space.tail = values + value_bytes(head);
  return space;
}

RecordSpace ExampleRecord::extend(const Shape& shape, Buffer& out) {
  return begin(shape, out.extend(bytes(shape)).data());
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
