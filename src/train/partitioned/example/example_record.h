// An example as ranks hand it to one another: read where it lies.
//
// A record starts at a multiple of eight bytes and is
//   head (16 bytes) | places (u8 each), padded to 8 | features (u64 each) |
//   values (f32 each; left out where all are 1), padded to 8 | the label's bytes, padded to 8
// in the byte order of the machine; ranks of a job run on the same kind.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>

#include "comm/buffer.h"
#include "core/checked.h"
#include "cpt/example.h"

namespace cpt {

// A record that is being written: where its parts go.
struct RecordSpace {
  std::byte* places;
  FeatureHash* features;
  float* values;  // nullptr where all are 1
  std::byte* label;
};

// Points into memory that outlives it; cheap to copy.
class ExampleRecord {
 public:
  ExampleRecord() = default;  // none
  // The record at an address, written by this program.
  explicit ExampleRecord(const std::byte* at) : at_(at) {}
  bool exists() const { return at_ != nullptr; }

  struct Shape {
    std::size_t features = 0;
    bool with_values = true;  // else all are 1; there are always values where there are more than kMostOnes features
    std::size_t places = 0;   // see places() and label()
    std::size_t label_bytes = 0;
    float importance = 1;
  };
  static constexpr std::size_t kMostOnes = 4096;
  static constexpr std::size_t kAlignment = 8;
  static constexpr std::size_t kLeastBytes = 16;  // of any record
  // Of a record of this shape; a multiple of kAlignment. Throws Error(kFailed) where a part has more than a record
  // holds.
  static std::size_t bytes(const Shape& shape);
  // Begins a record where so many bytes are free.
  static RecordSpace begin(const Shape& shape, std::byte* at);
  // Makes room for a record at the end of a buffer, and begins it.
  static RecordSpace extend(const Shape& shape, Buffer& out);

  // Without a label, and of no origin. Here, so that who takes a part of it makes no other.
  ExampleView view() const {
    const std::size_t count = features();
    const std::byte* features_at = at_ + sizeof(Head) + place_bytes(head());
    ExampleView x;
    x.features = {reinterpret_cast<const FeatureHash*>(features_at), count};
    const std::byte* values_at = features_at + count * sizeof(FeatureHash);
    x.values = {has_values() ? reinterpret_cast<const float*>(values_at) : kOnes.data(), count};
    x.importance = head().importance;
    return x;
  }
  // The places at which the path to its label leaves each block, root first, as the sender knows them; may be empty.
  std::span<const std::uint8_t> places() const {
    return {reinterpret_cast<const std::uint8_t*>(at_ + sizeof(Head)), head().places};
  }
  // Its name; empty where the label is known by its number.
  std::string_view label() const;
  float importance() const;
  // How many records early to ask for one: another rank may have written it, or a step has passed since it was read, so
  // it is not in the caches.
  static constexpr std::size_t kAhead = 24;
  // Asks the memory for the beginning of the record.
  void prefetch() const {
    for (std::size_t line = 0; line < 3; ++line) __builtin_prefetch(at_ + 64 * line);
  }

 private:
  struct Head {
    std::uint32_t features;  // the highest bit tells that values follow
    std::uint32_t places;
    std::uint32_t label_bytes;
    float importance;
  };
  static_assert(sizeof(Head) == kLeastBytes);
  static constexpr std::uint32_t kHasValues = 1U << 31;
  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
  static const std::array<float, kMostOnes> kOnes;

  static Head head_of(const Shape& shape);
  static std::size_t place_bytes(const Head& head) { return padded(head.places); }
  static std::size_t feature_bytes(const Head& head);
  static std::size_t value_bytes(const Head& head);
  const Head& head() const { return *reinterpret_cast<const Head*>(at_); }
  std::size_t features() const { return head().features & ~kHasValues; }
  bool has_values() const { return (head().features & kHasValues) != 0; }

  const std::byte* at_ = nullptr;
};

// Here, so that who asks for the bytes of a shape and then begins one computes its head once.

inline ExampleRecord::Head ExampleRecord::head_of(const Shape& shape) {
  Head head{};
  head.features = narrow<std::uint32_t>(shape.features, "the features of an example");
  if (shape.with_values || shape.features > kMostOnes) head.features |= kHasValues;
  head.places = narrow<std::uint32_t>(shape.places, "the length of a path");
  head.label_bytes = narrow<std::uint32_t>(shape.label_bytes, "the length of a label");
  head.importance = shape.importance;
  return head;
}

inline std::size_t ExampleRecord::feature_bytes(const Head& head) {
  return (head.features & ~kHasValues) * sizeof(FeatureHash);
}

inline std::size_t ExampleRecord::value_bytes(const Head& head) {
  return (head.features & kHasValues) != 0 ? padded((head.features & ~kHasValues) * sizeof(float)) : 0;
}

inline std::size_t ExampleRecord::bytes(const Shape& shape) {
  const Head head = head_of(shape);
  return sizeof head + place_bytes(head) + feature_bytes(head) + value_bytes(head) + padded(head.label_bytes);
}

inline RecordSpace ExampleRecord::begin(const Shape& shape, std::byte* at) {
  const Head& head = *new (at) Head(head_of(shape));
  RecordSpace space{};
  space.places = at + sizeof head;
  std::byte* features = space.places + place_bytes(head);
  space.features = reinterpret_cast<FeatureHash*>(features);
  std::byte* values = features + feature_bytes(head);
  if (value_bytes(head) > 0) space.values = reinterpret_cast<float*>(values);
  space.label = values + value_bytes(head);
  return space;
}

}  // namespace cpt
