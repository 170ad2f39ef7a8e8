#include "train/example_record.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/checked.h"

namespace cpt {

namespace {

// Longer examples carry their values, whatever they are.
constexpr std::size_t kMostOnes = 4096;

constexpr std::array<float, kMostOnes> make_ones() {
  std::array<float, kMostOnes> ones{};
  for (float& one : ones) one = 1;
  return ones;
}
constexpr std::array<float, kMostOnes> kOnes = make_ones();

constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

bool all_ones(std::span<const float> values) {
  return values.size() <= kMostOnes && std::all_of(values.begin(), values.end(), [](float v) { return v == 1; });
}

}  // namespace

std::size_t ExampleRecord::value_bytes(const Head& head) {
  return (head.features & kHasValues) != 0 ? padded((head.features & ~kHasValues) * sizeof(float)) : 0;
}

void ExampleRecord::append(const ExampleView& x, std::span<const std::uint8_t> places, std::string_view label,
                           Buffer& out) {
  Head head{};
  head.features = narrow<std::uint32_t>(x.features.size(), "the features of an example");
  if (!all_ones(x.values)) head.features |= kHasValues;
  head.places = narrow<std::uint32_t>(places.size(), "the length of a path");
  head.label_bytes = narrow<std::uint32_t>(label.size(), "the length of a label");
  head.importance = x.importance;

  const std::size_t values = value_bytes(head);
  const std::size_t tail = padded(places.size() + label.size());
  std::byte* at = out.extend(sizeof head + x.features.size_bytes() + values + tail).data();
  std::memcpy(at, &head, sizeof head);
  at += sizeof head;
  std::memcpy(at, x.features.data(), x.features.size_bytes());
  at += x.features.size_bytes();
  if (values > 0) {
    std::memset(at + values - 8, 0, 8);
    std::memcpy(at, x.values.data(), x.values.size_bytes());
    at += values;
  }
  if (tail == 0) return;
  std::memset(at + tail - 8, 0, 8);
  if (!places.empty()) std::memcpy(at, places.data(), places.size());
  if (!label.empty()) std::memcpy(at + places.size(), label.data(), label.size());
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

std::size_t ExampleRecord::bytes() const {
  const auto end = static_cast<std::size_t>(after_values() - at_);
  return end + padded(std::size_t{head().places} + head().label_bytes);
}

}  // namespace cpt
