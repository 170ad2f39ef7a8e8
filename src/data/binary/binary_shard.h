// Binary shards: examples as `cpt convert` leaves them, parsed and hashed, in blocks that can be read one by one.
//
//   shard  := header (list? block)* index trailer
//   header := magic (8 bytes, the last one the version) | length of the text (u32) | XXH3-64 of the text | text
//   list   := BlockHead of kind kFeatures | payload: the number of the first (u64), then features (u64 each)
//   block  := BlockHead of kind kExamples | payload
//   index  := BlockHead of kind kIndex | payload: for each block an IndexEntry; then, if it is known,
//             how many bytes of text the shard was made of (u64)
//   trailer:= offset of the index (u64) | magic
//
// The text of the header says how the examples were read, since what they became depends on it: see reader_signature().
// A payload is one zstd frame, or the bytes themselves where that is shorter; binary_block.h has what is in that of
// examples.
//
// Features are hashes of eight bytes, which nothing makes shorter, so a shard tells of each once and for many blocks:
// they lie in a list, which a block refers to by numbers, and whose new part comes before the block. The list begins
// anew with each part whose first number is 0, see BlockLimits: so no reader holds a long one, who begins in the middle
// has only to go back to there, and damage costs no more than the blocks up to the next one. (Hashes were 46 % of a
// shard of novels while each block had its own.)
//
// All numbers are little-endian. Offsets are bytes of the content, from the magic on. Readers go from block
// to block; the index is for those who want to begin in the middle, and its absence tells of a file that was cut off.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cpt/example.h"
#include "data/binary/binary_block.h"
#include "data/format/read_options.h"

namespace cpt {

inline constexpr std::array<char, 8> kBinaryMagic{'\x89', 'c', 'p', 't', '\r', '\n', '\x1a', 2};

// As bytes of a file "BLK1", "FEAT" and "INDX".
enum class BlockKind : std::uint32_t {
  kExamples = 0x314b4c42,
  kFeatures = 0x54414546,
  kIndex = 0x58444e49,
};

// In front of every payload.
struct BlockHead {
  BlockKind kind = BlockKind::kExamples;
  std::uint32_t lines = 0;          // in it
  std::uint64_t lines_before = 0;   // in the blocks before it
  std::uint32_t raw_bytes = 0;      // of the payload, decompressed
  std::uint32_t stored_bytes = 0;   // of the payload; raw_bytes where it is not compressed
  std::uint64_t checksum = 0;       // XXH3-64 of the payload as stored
  std::uint64_t head_checksum = 0;  // XXH3-64 of all of the above
};
static_assert(sizeof(BlockHead) == 40);

std::uint64_t head_checksum(const BlockHead& head);
std::uint64_t payload_checksum(std::span<const std::byte> stored);
// Of a list with a new part; `before`: of what it was, 0 where it begins anew.
std::uint64_t list_digest(std::uint64_t before, std::span<const FeatureHash> part);

// No payload is larger: an example of all the features that a line may have fits.
inline constexpr std::uint32_t kMostPayloadBytes = std::uint32_t{1} << 30;

struct IndexEntry {
  std::uint64_t offset;        // of the block, or where it begins with a part of the list, of that
  std::uint64_t lines_before;  // it
  std::uint64_t list;          // offset of what the list begins with, or of the first block
};

// The last bytes of a shard.
struct Trailer {
  std::uint64_t index = 0;  // its offset
  std::array<char, 8> magic = kBinaryMagic;

  bool is_whole() const { return magic == kBinaryMagic; }
};
static_assert(sizeof(Trailer) == 16);

// Whether a content begins like a binary shard, of whatever version.
inline constexpr std::size_t kBinaryMagicBytes = kBinaryMagic.size();
bool is_binary_shard(std::string_view beginning);
// Whether it may turn out to be one once more bytes are there.
bool may_be_binary_shard(std::string_view beginning);

// "seed 1, normalize none, multilabel first, interactions none": on what the examples of a line of text depend. Readers
// that would have read it otherwise must not take them.
std::string reader_signature(const ReadOptions& options);

}  // namespace cpt
