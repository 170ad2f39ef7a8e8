// Examples in as few bytes as possible, for the messages that carry most of them.
//
// Text repeats its words. Sender and receiver of a pair of ranks keep the same small table of features that went
// between them, with their values, and a feature that is in it travels as its place there. Numbers are LEB128 varints.
//
//   example  = position (varint: lines since the one before), shard (varint), index in its line (varint),
//              slot (varint: since the one before), label (varint: number + 1, 0 where the name follows),
//              weighted (u8: 1 or 0), [importance (f32)], features (varint, without the constant), feature*,
//              places (varint), u8*, [name (varint length, bytes)]
//   feature  = token (u16): two bits of kind, and a place in the table
//              kind 0: feature and value are there; 1: the feature is, its value (f32) follows;
//              2: the feature (u64) follows, its value is 1; 3: feature (u64) and value (f32) follow
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "comm/buffer.h"
#include "train/visit.h"

namespace cpt {

// Features by their highest bits. Both sides change it alike, in the order of examples.
class FeatureTable {
 public:
  static constexpr int kBits = 13;
  struct Entry {
    FeatureHash feature = 0;
    float value = 0;
  };

  FeatureTable() : entries_(std::size_t{1} << kBits) {}
  static std::uint16_t place_of(FeatureHash feature) { return static_cast<std::uint16_t>(feature >> (64 - kBits)); }
  Entry& operator[](std::uint16_t place) { return entries_[place]; }

 private:
  std::vector<Entry> entries_;
};

// For one receiver.
class ExamplePacker {
 public:
  // What pack() then appends is a message of its own.
  void begin_message() { last_ = {}; }
  void pack(const Arrival& head, const ExampleView& x, std::span<const std::uint8_t> places, std::string_view name,
            Buffer& message);

 private:
  std::byte* pack_features(const ExampleView& x, std::byte* out);

  FeatureTable table_;
  Arrival last_;
  std::vector<std::byte> scratch_;
};

// For one sender, whose messages it takes in the order of sending.
class ExampleUnpacker {
 public:
  // Appends what is in a message: the examples to `records`, which may move, so arrivals say where theirs begins in it
  // (offsets, parallel to arrivals) and have none for now. `first_slot` is added to every slot. Throws Error(kFailed)
  // if the message makes no sense.
  void unpack(ConstBytes message, std::uint32_t first_slot, Buffer& records, std::vector<std::size_t>& offsets,
              std::vector<Arrival>& arrivals);

 private:
  void unpack_features(class ByteReader& in, std::size_t count);

  FeatureTable table_;
  std::vector<FeatureHash> features_;
  std::vector<float> values_;
};

}  // namespace cpt
