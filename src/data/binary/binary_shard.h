// Binary shards: the examples that `cpt convert` writes, parsed and hashed, in blocks that can be read one by one.
//
//   shard  := header (list? block)* index trailer
//   header := magic (8 bytes, the last one the version) | length of the text (u32) | XXH3-64 of the text | text
//   list   := BlockHead of kind kFeatures | payload: number of the first feature (u64), then features (u64 each)
//   block  := BlockHead of kind kExamples | payload
//   index  := BlockHead of kind kIndex | payload: an IndexEntry for each block; then, if known,
//             the size in bytes of the text that the shard was made of (u64)
//   trailer:= offset of the index (u64) | magic
//
// The text of the header says how the examples were read, since that changes them: see reader_signature(). A payload is
// one zstd frame, or the bytes themselves where that is shorter. All numbers are little-endian. Offsets are bytes of
// the content, from the magic on. Readers go from block to block; the index serves readers that begin in the middle,
// and a file without one was cut off.
//
// Features are hashes of eight bytes, which do not compress, so a shard stores each once for many blocks: they lie in a
// list, to which blocks refer by numbers, and whose new part comes before the block. The list begins anew with each
// part whose first number is 0, see BlockLimits. So no reader holds a long list, a reader that begins in the middle
// goes back only to the beginning of the list, and damage to a list costs only the blocks before the next one. (Hashes
// were 46 % of a shard of novels while each block had its own.)
//
// The payload of a block has its examples in columns: numbers of one kind lie together, which makes them small when
// compressed and fast to read.
//
//   payload := digest of the list of the shard, up to this block (u64) | BlockCounts
//              column: for each entry of the dictionary the number of its feature in the list of the shard, minus that
//              of the entry before it
//              values: of each entry                                   (flag kEntryValues)
//              column: lengths of the labels | column: the label of each example
//              column: number of features of each example | column: the entry of each of these features
//              column: 1 for each example that begins a line, else 0   (flag kSharedLines; else every one does)
//              values: of each feature                                 (flag kFeatureValues)
//              planes: importance of each example                      (flag kImportances; else all are 1)
//              bytes of the labels
//   values  := digits (one byte) | column: as Decimals, or kNoDecimals (one byte) | planes: the floats
//   column  := width (one byte: 1 to 4) | planes of that many bytes a number
//   planes  := the lowest byte of every number, then the next one of every number, and so on
//
// The list numbers features as blocks need them. Within a block the most frequent features get the lowest numbers,
// which makes columns small. The digest ties a block to its list: without it, a file that lost a part of the list would
// give wrong features.
//
// Where few values occur, an entry is a feature with its value; else it is a feature, and values lie beside the
// examples. Without either flag all values are 1. Constant features are left out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "cpt/example.h"
#include "data/format/read_options.h"

namespace cpt {

inline constexpr std::array<char, 8> kBinaryMagic{'\x89', 'c', 'p', 't', '\r', '\n', '\x1a', 2};

// The longest text of a header: many times the size of the options of a run, as a rule.
inline constexpr std::uint32_t kMostTextBytes = std::uint32_t{1} << 20;

// In a file the bytes "BLK1", "FEAT" and "INDX".
enum class BlockKind : std::uint32_t {
  kExamples = 0x314b4c42,
  kFeatures = 0x54414546,
  kIndex = 0x58444e49,
};

// In front of every payload.
struct BlockHead {
  BlockKind kind = BlockKind::kExamples;
  std::uint32_t lines = 0;          // of text, in this block
  std::uint64_t lines_before = 0;   // in all earlier blocks
  std::uint32_t raw_bytes = 0;      // of the payload, decompressed
  std::uint32_t stored_bytes = 0;   // of the payload; raw_bytes where it is not compressed
  std::uint64_t checksum = 0;       // XXH3-64 of the payload as stored
  std::uint64_t head_checksum = 0;  // XXH3-64 of all fields above
};
static_assert(sizeof(BlockHead) == 40);

std::uint64_t head_checksum(const BlockHead& head);
std::uint64_t payload_checksum(std::span<const std::byte> stored);
// Digest of a list with a new part; `before` is the digest without it, 0 where the list begins anew.
std::uint64_t list_digest(std::uint64_t before, std::span<const FeatureHash> part);

struct BlockCounts {
  std::uint32_t examples;
  std::uint32_t features;
  std::uint32_t entries;
  std::uint32_t labels;
  std::uint32_t label_bytes;
  std::uint32_t flags;
};
static_assert(sizeof(BlockCounts) == 24);

// Values of BlockCounts::flags.
inline constexpr std::uint32_t kSharedLines = 1;
inline constexpr std::uint32_t kEntryValues = 2;
inline constexpr std::uint32_t kFeatureValues = 4;
inline constexpr std::uint32_t kImportances = 8;

// Written in place of the number of digits.
inline constexpr std::uint8_t kNoDecimals = 255;

// The largest payload: an example with all the features that a line may have fits.
inline constexpr std::uint32_t kMostPayloadBytes = std::uint32_t{1} << 30;

struct IndexEntry {
  std::uint64_t offset;        // of the block, or of the part of the list before it
  std::uint64_t lines_before;  // as in its head
  std::uint64_t list;          // offset of the part with which the list begins, or of the first block
};

// The last bytes of a shard.
struct Trailer {
  std::uint64_t index = 0;  // its offset
  std::array<char, 8> magic = kBinaryMagic;

  bool is_whole() const { return magic == kBinaryMagic; }
};
static_assert(sizeof(Trailer) == 16);

// True if a content begins like a binary shard of any version.
inline constexpr std::size_t kBinaryMagicBytes = kBinaryMagic.size();
bool is_binary_shard(std::string_view beginning);
// True if the content is one or, with more bytes, may turn out to be one.
bool may_be_binary_shard(std::string_view beginning);

// "seed 1, normalize none, multilabel first, interactions none", the keys of JSON lines if they are not the default
// ones, and n-grams if there are any: the options that change the examples of a line of text. A reader with another
// signature must refuse the shard.
std::string reader_signature(const ReadOptions& options);

// Says how a reader's signature differs from that of a shard, and what to do: "converted with interactions none; this
// run reads with interactions pp; convert again with --interactions pp, or omit it".
// `is_of_model`: see ReadOptions; then all there is to do is to convert again.
std::string describe_difference(const std::string& converted, const std::string& wanted, bool is_of_model = false);

}  // namespace cpt
