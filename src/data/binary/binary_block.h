// The examples of one block of a binary shard, in columns: numbers of one kind lie together, which makes them small
// when compressed and fast to read.
//
//   payload := digest of the list of the shard, up to this block (u64) | BlockCounts
//              column: for each entry of the dictionary by how much the number of its feature in the list of the shard
//              exceeds that of the entry before it, or 0
//              values: of each entry                                   (flag kEntryValues)
//              column: lengths of the labels | column: for each example its label
//              column: for each example how many features | column: for each of these its entry
//              column: 1 for each example that begins a line, else 0   (flag kSharedLines; else every one does)
//              values: of each feature                                 (flag kFeatureValues)
//              planes: for each example its importance                 (flag kImportances; else all are 1)
//              bytes of the labels
//   values  := digits (one byte) | column: as Decimals, or kNoDecimals (one byte) | planes: the floats
//   column  := width (one byte: 1 to 4) | planes of so many bytes a number
//   planes  := the lowest byte of every number, then the next one of every number, and so on
//
// The list of the shard has a number for every feature; see binary_shard.h. Numbers are given as blocks need them, in a
// block to the most frequent features first: low ones come most often, which makes small columns. The digest ties a
// block to its list: without it, a file that lost a part of the list would tell of wrong features.
//
// Where few values occur, an entry is a feature with its value; else it is a feature, and values lie beside the
// examples. Without either flag all are 1. Constant features are left out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpt {

struct BlockCounts {
  std::uint32_t examples;
  std::uint32_t features;
  std::uint32_t entries;
  std::uint32_t labels;
  std::uint32_t label_bytes;
  std::uint32_t flags;
};
static_assert(sizeof(BlockCounts) == 24);

// Flags.
inline constexpr std::uint32_t kSharedLines = 1;
inline constexpr std::uint32_t kEntryValues = 2;
inline constexpr std::uint32_t kFeatureValues = 4;
inline constexpr std::uint32_t kImportances = 8;

// In the place of digits.
inline constexpr std::uint8_t kNoDecimals = 255;

}  // namespace cpt
