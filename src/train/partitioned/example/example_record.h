// The one encoding of an example between ranks, in messages and in shared memory; it is read in place.
//
// A record starts at a multiple of eight bytes and is
//   head (16 bytes) | path (u8 each), padded to 8 | features (u64 each) |
//   values (f32 each; left out where all are 1), padded to 8 | rarities (u8 each; only if the model uses them), padded
//   to 8 | the label's bytes, padded to 8
// in the byte order of the machine; the ranks of a job run on the same kind.
//
// Why not fewer bytes: feature hashes do not compress. A table of recent features, kept alike by both ends of every
// pair of ranks, took 40 % off the bytes of text, but cost a quarter of a microsecond per example and owner.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "comm/buffer.h"
#include "core/checked.h"
#include "cpt/example.h"
#include "model/rarity/scaled_example.h"

namespace cpt {

// Refuses what another rank sent: Error(kFailed), "protocol error: <reason>".
[[noreturn]] void throw_protocol_error(const std::string& reason);

// Points into memory that outlives it; cheap to copy.
class ExampleRecord {
 public:
  ExampleRecord() = default;  // none
  // The record at an address, written by this program.
  explicit ExampleRecord(const std::byte* at) : at_(at) {}
  bool exists() const { return at_ != nullptr; }

  // The parts of a record.
  struct Parts {
    const ExampleView& x;
    std::span<const std::uint8_t> path;
    std::string_view label;  // instead of x's own
    std::span<const Rarity> rarities = {};
  };

  struct Shape {
    std::size_t features = 0;
    bool with_values = true;  // else all are 1; records of more than kMostOnes features always have values
    bool with_rarities = false;
    std::size_t path_blocks = 0;
    std::size_t label_bytes = 0;
    float importance = 1;
  };
  static constexpr std::size_t kMostOnes = 4096;
  static constexpr std::size_t kAlignment = 8;
  static constexpr std::size_t kLeastBytes = 16;  // of any record

  static Shape shape_of(const Parts& parts);
  // Bytes of a record; a multiple of kAlignment. Throws Error(kFailed) if a part is too long for a record.
  static std::size_t bytes(const Shape& shape) { return bytes_of(head_of(shape)); }
  // Writes a record of bytes(shape) bytes; `shape` is shape_of(parts).
  static void write(const Shape& shape, const Parts& parts, std::byte* at);
  // Bytes of the record at the start of what another rank sent, at a multiple of kAlignment. Throws a protocol error
  // unless the whole record is there.
  static std::size_t checked_bytes(ConstBytes from);

  // The example without label and origin. Inline, so that callers that need only a part compute only that.
  ExampleView view() const {
    ExampleView x;
    read(x);
    return x;
  }
  // The same, written at its final place: if the parts just written were copied as a whole, the processor would have to
  // wait.
  void read(ExampleView& x) const {
    const std::size_t count = features();
    const std::byte* features_at = at_ + sizeof(Head) + path_bytes(head());
    x.features = {reinterpret_cast<const FeatureHash*>(features_at), count};
    const std::byte* values_at = features_at + count * sizeof(FeatureHash);
    x.values = {has_values() ? reinterpret_cast<const float*>(values_at) : kOnes.data(), count};
    x.importance = head().importance;
  }
  // Parallel to the features; empty if there are none.
  std::span<const Rarity> rarities() const {
    if ((head().features & kHasRarities) == 0) return {};
    const std::byte* at = at_ + sizeof(Head) + path_bytes(head()) + feature_bytes(head()) + value_bytes(head());
    return {reinterpret_cast<const Rarity*>(at), features()};
  }
  // Where the path to the example's label leaves each block, root first, as the sender knows it; may be empty.
  std::span<const std::uint8_t> path() const {
    return {reinterpret_cast<const std::uint8_t*>(at_ + sizeof(Head)), head().path_blocks};
  }
  // The label's name; empty where the label is known by its number.
  std::string_view label() const;
  float importance() const { return head().importance; }

  // Prefetch a record this many records ahead: another rank may have written it, or a step has passed since it was
  // read, so it is not in the caches.
  static constexpr std::size_t kAhead = 24;
  // Prefetches the start of the record.
  void prefetch() const {
    for (std::size_t line = 0; line < 3; ++line) __builtin_prefetch(at_ + 64 * line);
  }

 private:
  struct Head {
    std::uint32_t features;  // the two highest bits are set where values, and where rarities follow
    std::uint32_t path_blocks;
    std::uint32_t label_bytes;
    float importance;
  };
  static_assert(sizeof(Head) == kLeastBytes);
  static constexpr std::uint32_t kHasValues = 1U << 31;
  static constexpr std::uint32_t kHasRarities = 1U << 30;
  static std::size_t features_of(const Head& head) { return head.features & ~(kHasValues | kHasRarities); }
  static const std::array<float, kMostOnes> kOnes;

  static constexpr std::size_t padded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }
  static Head head_of(const Shape& shape) {
    Head head{};
    head.features = narrow<std::uint32_t>(shape.features, "the features of an example");
    if (head.features >= kHasRarities) throw Error(Fault::kFailed, "an example has more than 2^30 features");
    if (shape.with_values || shape.features > kMostOnes) head.features |= kHasValues;
    if (shape.with_rarities) head.features |= kHasRarities;
    head.path_blocks = narrow<std::uint32_t>(shape.path_blocks, "the length of a path");
    head.label_bytes = narrow<std::uint32_t>(shape.label_bytes, "the length of a label");
    head.importance = shape.importance;
    return head;
  }
  static std::size_t path_bytes(const Head& head) { return padded(head.path_blocks); }
  static std::size_t feature_bytes(const Head& head) { return features_of(head) * sizeof(FeatureHash); }
  static std::size_t value_bytes(const Head& head) {
    return (head.features & kHasValues) != 0 ? padded(features_of(head) * sizeof(float)) : 0;
  }
  static std::size_t rarity_bytes(const Head& head) {
    return (head.features & kHasRarities) != 0 ? padded(features_of(head)) : 0;
  }
  static std::size_t bytes_of(const Head& head) {
    return sizeof head + path_bytes(head) + feature_bytes(head) + value_bytes(head) + rarity_bytes(head) +
           padded(head.label_bytes);
  }

  const Head& head() const { return *reinterpret_cast<const Head*>(at_); }
  std::size_t features() const { return features_of(head()); }
  bool has_values() const { return (head().features & kHasValues) != 0; }

  const std::byte* at_ = nullptr;
};

}  // namespace cpt
