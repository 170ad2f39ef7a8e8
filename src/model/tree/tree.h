// The topology of the tree and the number of leaves below every node. Knows nothing of weights.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tree/blocks.h"
#include "model/tree/labels.h"

namespace cpt {

// Labels are leaves; label i is the i-th that was added. Reading from several threads is safe while nobody adds.
class Tree {
 public:
  Tree() : blocks_(root_link()) {}

  std::size_t labels() const { return leaves_.size(); }
  std::size_t blocks() const { return blocks_.size(); }
  bool empty() const { return leaves_.empty(); }

  // The first label becomes the whole tree. Requires empty().
  LabelId add_first();
  // The next label joins by splitting the leaf of `old`: a node takes the leaf's place, `old` hangs left of it and the
  // new label right. The node stays in the block of the leaf if its slot fits there, else it opens a block.
  LabelId split(LabelId old);

  PathStep leaf(LabelId label) const { return leaves_[label]; }
  // The label whose leaf was split for this one; kNoLabel for label 0. The tree is a function of these alone.
  LabelId split_for(LabelId label) const { return splits_[label]; }
  const BlockHeader& link(BlockId block) const { return blocks_.link(block); }
  const BlockNodes& content(BlockId block) const { return blocks_.content(block); }
  const Blocks& structure() const { return blocks_; }

  // The hops from the root block to the leaf's. The order is root first. Before that, and in this order, is the time to
  // ask the memory for the leaf and for the block that it hangs in.
  void prefetch_leaf(LabelId label) const { __builtin_prefetch(&leaves_[label]); }
  void prefetch_block_of(LabelId label) const { __builtin_prefetch(&link(leaves_[label].block)); }
  void path(LabelId label, std::vector<PathStep>& path) const;
  // Their places alone.
  void places(LabelId label, std::vector<std::uint8_t>& places) const;
  // The number of nodes above the leaf.
  std::uint32_t depth(LabelId label) const;

  // A digest of the topology: equal trees, and only they, have equal digests (up to 64-bit collisions).
  std::uint64_t digest() const;
  // The same of how it has grown, kept up with every label: equal for equal sequences of splits.
  std::uint64_t growth_digest() const { return growth_; }
  // Of memory that it holds.
  std::uint64_t bytes() const {
    return blocks_.bytes() + leaves_.capacity() * sizeof(PathStep) + splits_.capacity() * sizeof(LabelId);
  }

 private:
  void add_leaf(PathStep leaf, LabelId split);

  Blocks blocks_;
  std::vector<PathStep> leaves_;  // by label
  std::vector<LabelId> splits_;   // by label
  std::uint64_t growth_ = 0;
};

}  // namespace cpt
