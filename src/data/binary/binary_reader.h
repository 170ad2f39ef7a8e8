// A binary shard to examples.
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

// A block that makes no sense. The one behind it can be read, unless this is a BrokenOffBlock.
class DamagedBlock : public CorruptInput {
 public:
  // lines: of it, those that were not read before.
  DamagedBlock(const CorruptInput& damage, std::uint64_t lines) : CorruptInput(damage), lines_(lines) {}
  std::uint64_t lines() const { return lines_; }

 private:
  std::uint64_t lines_;
};

// One of which the content does not hold all: there is nothing behind it.
class BrokenOffBlock : public DamagedBlock {
 public:
  using DamagedBlock::DamagedBlock;
};

// Not thread-safe. Lines of a binary shard are those of text that its examples were read from, but only those that
// hold examples, counted from 1.
class BinaryReader {
 public:
  // `options` must outlive it.
  BinaryReader(std::unique_ptr<ByteSource> source, const ReadOptions& options);
  ~BinaryReader();

  // Before anything else. Throws Error(kBadData) for a header of another version or a damaged one, Error(kUsage) where
  // the examples were read with options that make others of the same text, CorruptInput where the source ends.
  void read_header();
  // After that: goes on behind line `line`, which ends, or whose block begins, at byte `bytes` of the content. `list`:
  // of that block, see IndexEntry; 0 if it is not known, then what is before it is searched. False if the content ends
  // before; offset() is how much there is. Throws CorruptInput where no block ends at that byte.
  bool skip(std::uint64_t bytes, std::uint64_t line, std::uint64_t list = 0);
  // Before the first line: no block is read that begins at this byte of the content, or behind it.
  void end_at(std::uint64_t bytes) { end_ = bytes; }
  // Instead: the index, which begins at this byte. Nothing else can be read then. Throws CorruptInput.
  std::vector<IndexEntry> read_index(std::uint64_t offset);
  // After read_index(): bytes of the text that the shard was made of; 0 if it does not know.
  std::uint64_t text_bytes() const { return text_bytes_; }

  // Appends the examples of the next line, whose origin is `base` but for line and end; false at the end of the shard.
  // Throws DamagedBlock, after which the block behind it is next; BrokenOffBlock and any other CorruptInput, after
  // which nothing is; and ParseError of a line, after which the one behind it is next.
  bool next(const Origin& base, Batch& batch);

  // Of the line of the last call, or where there was none, of the one before; at damage, of the first one that cannot
  // be read for it.
  std::uint64_t number() const { return number_; }
  // The byte of the content at which the block begins that holds the next line. At the end: where the index begins, or
  // the block that is not to be read.
  std::uint64_t offset() const { return block_left() || ended_ ? block_begin_ : taken_; }
  // Behind damage: reads to the end of the content and returns how many bytes there are.
  std::uint64_t drain();

 private:
  struct FreeContext {
    void operator()(ZSTD_DCtx_s* context) const;
  };

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
  std::unique_ptr<ZSTD_DCtx_s, FreeContext> context_;
  std::vector<std::byte> stored_;  // its beginning holds the payload as stored
  std::vector<std::byte> payload_;
  std::vector<FeatureHash> list_;            // see binary_shard.h
  std::uint64_t list_digest_ = 0;            // list_digest()
  std::optional<CorruptInput> list_damage_;  // until the list begins anew
  BlockExamples block_;
  std::uint64_t taken_ = 0;  // bytes of the content so far
  std::uint64_t end_ = ~std::uint64_t{0};
  std::uint64_t block_begin_ = 0;  // where the block began that is being read, or its part of the list
  std::uint64_t head_begin_ = 0;   // where the head of the latest payload began
  std::uint64_t number_ = 0;
  std::uint64_t lines_expected_ = 0;  // before the next block
  bool goes_on_ = false;              // behind a line of an earlier reader; no block was read yet
  bool ended_ = false;
  std::uint64_t text_bytes_ = 0;
  bool refuses_some_ = false;  // of the labels or importances in the block
};

}  // namespace cpt
