// Examples to a binary shard.
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

// Not thread-safe. Holds one block and the list of features, of a few megabytes.
class BinaryWriter {
 public:
  using Sink = std::function<void(std::span<const std::byte>)>;

  // The sink gets the bytes of the shard in their order; what it throws comes out of the calls here. `options` are
  // those the examples were read with.
  BinaryWriter(const ReadOptions& options, Sink sink, BlockLimits limits = {});
  // The next example, of a new line or of that of the one before it.
  void add(const ExampleView& x, bool begins_line);
  // Once, at the end. `text_bytes`: of what the shard was made of; 0 if that is not known.
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
  std::uint64_t lines_ = 0;       // in the blocks that are written
};

}  // namespace cpt
