// Encodes examples as the payload of a block of a binary shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/hashing/id_map.h"
#include "cpt/example.h"
#include "data/binary/binary_shard.h"

namespace cpt {

// A block is full once it has this many examples or features, or bytes of distinct labels. Larger blocks make smaller
// shards; but a reader holds a block of each shard that it has open. The list of features begins anew before it exceeds
// `listed`, unless one block alone does, and after `list_blocks` blocks: it takes memory in writer and reader, and
// damage to it costs the blocks that follow.
struct BlockLimits {
  std::size_t examples = std::size_t{1} << 13;
  std::size_t features = std::size_t{1} << 17;
  std::size_t listed = std::size_t{1} << 18;
  std::size_t list_blocks = 64;
  std::size_t label_bytes = std::size_t{1} << 26;
};

// The features in the list of a shard.
struct FeatureList {
  IdMap<FeatureHash> numbers;
  std::size_t blocks = 0;    // number of blocks that use the list
  std::uint64_t digest = 0;  // list_digest()
};

struct EncodedBlock {
  std::vector<FeatureHash> listed;  // the new part of the list; may be empty
  std::uint64_t first_listed = 0;   // the number of the first of them; 0 begins the list anew
  std::vector<std::byte> payload;
};

// Collects examples for a block. Not thread-safe.
class BlockBuilder {
 public:
  explicit BlockBuilder(BlockLimits limits = {}) : limits_(limits) {}

  // Adds the next example, of a new line or of the same line as the one before.
  void add(const ExampleView& x, bool begins_line);
  std::uint32_t lines() const { return lines_; }
  // True if another line should begin a new block.
  bool is_full() const {
    return feature_counts_.size() >= limits_.examples || features_.size() >= limits_.features ||
           label_bytes_ >= limits_.label_bytes;
  }

  // Encodes the examples added since the last call, and adds their features to the list.
  EncodedBlock encode(FeatureList& list);

 private:
  BlockLimits limits_;
  std::vector<std::uint32_t> feature_counts_;
  std::vector<FeatureHash> features_;
  std::vector<float> values_;
  std::vector<float> importances_;
  std::vector<std::uint32_t> begins_;
  std::vector<std::uint32_t> label_of_;
  std::unordered_map<std::string, std::uint32_t> label_numbers_;
  std::vector<std::string> labels_;
  std::size_t label_bytes_ = 0;  // of all of them
  std::uint32_t lines_ = 0;
  bool has_importances_ = false;
};

}  // namespace cpt
