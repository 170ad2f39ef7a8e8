// Reads a binary shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/binary/binary_shard.h"
#include "data/binary/block_examples.h"
#include "data/format/parse_error.h"
#include "data/format/read_options.h"
#include "data/source/byte_source.h"

struct ZSTD_DCtx_s;

namespace cpt {

// A block that is damaged. The next one can be read, unless this is a BrokenOffBlock.
class DamagedBlock : public CorruptInput {
 public:
  // lines: those of the block that were not read before.
  DamagedBlock(const CorruptInput& damage, std::uint64_t lines) : CorruptInput(damage), lines_(lines) {}
  std::uint64_t lines() const { return lines_; }

 private:
  std::uint64_t lines_;
};

// A block that is cut off: the content ends in it.
class BrokenOffBlock : public DamagedBlock {
 public:
  using DamagedBlock::DamagedBlock;
};

// The memory that reading a block takes, which readers that take turns can share: a rank that has hundreds of shards
// open decodes one block at a time. For one thread at a time.
struct BlockScratch {
  BlockScratch();  // throws Error(kFailed)

  std::unique_ptr<ZSTD_DCtx_s, std::size_t (*)(ZSTD_DCtx_s*)> context;
  std::vector<std::byte> stored;  // begins with the payload as stored
  std::vector<std::byte> payload;
};

// Not thread-safe. Lines of a binary shard are the lines of text from which its examples were read, but only those with
// examples, counted from 1.
class BinaryReader {
 public:
  // `options` must outlive the reader.
  BinaryReader(std::unique_ptr<ByteSource> source, const ReadOptions& options,
               std::shared_ptr<BlockScratch> scratch = std::make_shared<BlockScratch>());

  // Call this first. Throws Error(kBadData) for a header of another version or a damaged one, Error(kUsage) if the
  // examples were read with options that change them, CorruptInput if the source ends.
  void read_header();
  // After the header: continues after line `line`, which ends, or whose block begins, at byte `bytes` of the content.
  // `list` is that of the block, see IndexEntry; with 0, all blocks before are searched for it. False if the content
  // ends before; offset() is then its size. Throws CorruptInput if no block ends at that byte.
  bool skip(std::uint64_t bytes, std::uint64_t line, std::uint64_t list = 0);
  // Before the first line: sets the end. No block is read that begins at this byte of the content or later.
  void end_at(std::uint64_t bytes) { end_ = bytes; }
  // Instead of lines: the index, which begins at this byte. Nothing else can be read then. Throws CorruptInput.
  std::vector<IndexEntry> read_index(std::uint64_t offset);
  // After read_index(): size in bytes of the text that the shard was made of; 0 if unknown.
  std::uint64_t text_bytes() const { return text_bytes_; }

  // Appends the examples of the next line, with `base` as their origin except for line and end; false at the end of the
  // shard. Throws DamagedBlock, after which it continues with the next block; ParseError for a line, after which it
  // continues with the next line; BrokenOffBlock and any other CorruptInput, after which nothing can be read.
  bool next(const Origin& base, Batch& batch);

  // Number of the line of the last call; at the end, of the last line; after damage, of the first line lost to it.
  std::uint64_t number() const { return number_; }
  // The byte of the content at which the block of the next line begins. At the end: that of the index, or of the first
  // block after the end that was set.
  std::uint64_t offset() const { return block_left() || ended_ ? block_begin_ : taken_; }
  // After damage: reads to the end of the content and returns its size in bytes.
  std::uint64_t drain();

 private:
  bool block_left() const { return block_.examples_left() > 0; }
  std::size_t fill(std::span<char> space);
  void require(std::span<char> space, const char* what);
  bool pass_to(std::uint64_t bytes);
  bool pass_blocks_to(std::uint64_t bytes);
  bool read_block();
  BlockHead read_head();
  void check_lines(const BlockHead& head, std::uint64_t lines_before) const;
  void read_payload(const BlockHead& head, std::uint64_t lines_done = 0);
  std::optional<CorruptInput> read_stored(std::size_t bytes);
  void read_list(const BlockHead& head);
  void read_trailer(std::uint64_t index);
  void enter_block(const BlockHead& head, std::uint64_t done);
  const char* refusal_of(std::string_view label) const;
  void check_line(std::size_t examples);
  [[noreturn]] void refuse_line(std::size_t examples, const std::string& expected, const std::string& found);

  std::unique_ptr<ByteSource> source_;
  const ReadOptions& options_;
  std::shared_ptr<BlockScratch> scratch_;    // keeps nothing from call to call
  std::vector<FeatureHash> list_;            // see binary_shard.h
  std::uint64_t list_digest_ = 0;            // list_digest()
  std::optional<CorruptInput> list_damage_;  // until the list begins anew
  BlockExamples block_;
  std::uint64_t taken_ = 0;  // bytes of the content so far
  std::uint64_t end_ = ~std::uint64_t{0};
  std::uint64_t block_begin_ = 0;  // offset of the current block, or of its part of the list
  std::uint64_t head_begin_ = 0;   // offset of the head of the latest payload
  std::uint64_t number_ = 0;
  std::uint64_t lines_expected_ = 0;  // in all blocks before the next one
  bool has_skipped_ = false;          // after skip(), before the first block
  bool ended_ = false;
  std::uint64_t text_bytes_ = 0;
  bool refuses_some_ = false;  // some label or importance of the block
};

}  // namespace cpt
