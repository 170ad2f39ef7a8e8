// Examples to the payload of a block of a binary shard.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "cpt/example.h"
#include "data/binary/binary_shard.h"
#include "data/binary/id_map.h"

namespace cpt {

// A block is full once it has so many examples or features, or bytes of distinct labels. The more, the smaller the
// shard; but a reader holds a block of each shard that it has open. The list of features begins anew where it would get
// longer than `listed`, unless one block has more, and after so many blocks: it takes memory at both ends, and damage
// to it costs the blocks behind.
struct BlockLimits {
  std::size_t examples = std::size_t{1} << 13;
  std::size_t features = std::size_t{1} << 17;
  std::size_t listed = std::size_t{1} << 18;
  std::size_t list_blocks = 64;
  std::size_t label_bytes = std::size_t{1} << 26;
};

// The features that the blocks of a shard have told of.
struct FeatureList {
  IdMap<FeatureHash> numbers;
  std::size_t blocks = 0;    // that it served
  std::uint64_t digest = 0;  // list_digest()
};

struct EncodedBlock {
  std::vector<FeatureHash> listed;  // what the list gets; may be nothing
  std::uint64_t first_listed = 0;   // the number of the first of them; 0: the list begins anew
  std::vector<std::byte> payload;
};

// Collects examples for a block. Not thread-safe.
class BlockBuilder {
 public:
  explicit BlockBuilder(BlockLimits limits = {}) : limits_(limits) {}

  // The next example, of a new line or of that of the one before it.
  void add(const ExampleView& x, bool begins_line);
  std::uint32_t lines() const { return lines_; }
  // Whether another line should rather begin a block of its own.
  bool is_full() const {
    return feature_counts_.size() >= limits_.examples || features_.size() >= limits_.features ||
           label_bytes_ >= limits_.label_bytes;
  }

  // What was added since the last call, by a list that is brought up to it.
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
  std::size_t label_bytes_ = 0;  // of them
  std::uint32_t lines_ = 0;
  bool has_importances_ = false;
};

}  // namespace cpt
