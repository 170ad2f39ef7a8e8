// Writes a binary shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/binary/binary_shard.h"
#include "data/binary/block_builder.h"

namespace cpt {

// Not thread-safe. Holds one block and the list of features: a few megabytes.
class BinaryWriter {
 public:
  using Sink = std::function<void(std::span<const std::byte>)>;

  // The sink gets the bytes of the shard in order; what it throws passes through add() and finish(). `options` are
  // those with which the examples were read.
  BinaryWriter(const ReadOptions& options, Sink sink, BlockLimits limits = {});
  // Adds the next example, of a new line or of the same line as the one before.
  void add(const ExampleView& x, bool begins_line);
  // Call once, at the end. `text_bytes` is the size of the text that the shard was made of, larger by
  // what crosses and n-grams add to it; 0 if unknown.
  void finish(std::uint64_t text_bytes = 0);

 private:
  void put(std::span<const std::byte> bytes);
  void put_block(BlockHead head, std::span<const std::byte> payload);
  void put_list(const EncodedBlock& block);
  void end_block();

  Sink sink_;
  BlockBuilder block_;
  FeatureList list_;
  std::vector<IndexEntry> index_;
  std::uint64_t offset_ = 0;
  std::uint64_t list_begin_ = 0;  // see IndexEntry
  std::uint64_t lines_ = 0;       // in the blocks written so far
};

}  // namespace cpt
