#include "train/example_record.h"

#include <array>
#include <cstring>
#include <new>

#include "core/checked.h"

namespace cpt {

namespace {

template <std::size_t kCount>
constexpr std::array<float, kCount> make_ones() {
  std::array<float, kCount> ones{};
  for (float& one : ones) one = 1;
  return ones;
}

constexpr std::size_t padded(std::size_t bytes) {
  return (bytes + ExampleRecord::kAlignment - 1) / ExampleRecord::kAlignment * ExampleRecord::kAlignment;
}

}  // namespace

constinit const std::array<float, ExampleRecord::kMostOnes> ExampleRecord::kOnes = make_ones<kMostOnes>();

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
  const Head& head = *new (at) Head(head_of(shape));
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

std::span<const std::uint8_t> ExampleRecord::places() const {
  return {reinterpret_cast<const std::uint8_t*>(after_values()), head().places};
}

std::string_view ExampleRecord::label() const {
  return {reinterpret_cast<const char*>(after_values()) + head().places, head().label_bytes};
}

float ExampleRecord::importance() const { return head().importance; }

}  // namespace cpt
