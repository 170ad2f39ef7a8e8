// Examples on the wire, in few bytes.
//
//   x = features (varint: their number without the constant one, times two, plus 1 where values follow),
//       feature hashes (u64 each), [a bit per feature: its value is not 1, padded to a byte; those values (f32 each)],
//       weighted (u8: 1 or 0), [importance (f32)], places (varint), u8*
//
// Why not fewer: hashes do not compress. A table of recent features, kept alike by the sender and the receiver of every
// pair of ranks, took 40 % off the bytes of text, but cost a quarter of a microsecond per example and owner where eight
// ranks share two cores, because each pair's table is another one that the caches do not hold; it would grow worse with
// the number of ranks.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "comm/buffer.h"
#include "train/partitioned/example/example_record.h"
#include "train/partitioned/example/packed_bytes.h"

namespace cpt {

// Records that were unpacked, and where they begin. They move while there come more, so what refers to them is told
// their addresses at the end.
struct UnpackedExamples {
  Buffer records;
  std::vector<std::size_t> offsets;

  void clear();
  ExampleRecord operator[](std::size_t i) const { return ExampleRecord(records.data() + offsets[i]); }
};

// Appends x, without its label.
void pack_example(const ExampleView& x, std::span<const std::uint8_t> places, Buffer& message);
// Reads it again; `name` goes into the record as its label.
void unpack_example(ByteReader& in, std::string_view name, UnpackedExamples& examples);

}  // namespace cpt
