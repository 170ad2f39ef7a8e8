// The topology of a tree: where its labels hang, and how many leaves there are below every node. Knows nothing of
// weights.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tree/blocks.h"
#include "model/tree/labels.h"

namespace cpt {

// Every label is a leaf; label i was added after i others. Several threads may read while none adds.
class Tree {
 public:
  // `number`: of the tree in its model, from 0.
  explicit Tree(std::size_t number = 0) : blocks_(root_header(number)) {}

  std::size_t labels() const { return leaves_.size(); }
  std::size_t blocks() const { return blocks_.size(); }
  bool empty() const { return leaves_.empty(); }

  // Makes the first label the whole tree. Requires empty().
  LabelId add_first();
  // Adds the next label by splitting the leaf of `old`: a node replaces the leaf, with `old` on its left and the new
  // label on its right; see Blocks::split().
  LabelId split(LabelId old);

  // A step in the block of the leaf; its position is the leaf's.
  PathStep leaf(LabelId label) const { return leaves_[label]; }
  // The label whose leaf was split for this one; kNoLabel for label 0. These alone determine the tree.
  LabelId split_for(LabelId label) const { return splits_[label]; }
  const BlockHeader& header(BlockId block) const { return blocks_.header(block); }
  const BlockNodes& nodes(BlockId block) const { return blocks_.nodes(block); }
  const Blocks& structure() const { return blocks_; }

  // The path from the root block to the label's leaf, first step first. Calling prefetch_leaf() and then
  // prefetch_block_of() some time earlier saves waiting for memory.
  void path(LabelId label, std::vector<PathStep>& path) const {
    path.clear();
    append_path(label, path);
  }
  void append_path(LabelId label, std::vector<PathStep>& path) const { blocks_.append_path_to(leaves_[label], path); }
  // The positions of that path alone.
  void positions(LabelId label, std::vector<std::uint8_t>& positions) const;
  void prefetch_leaf(LabelId label) const { __builtin_prefetch(&leaves_[label]); }
  void prefetch_block_of(LabelId label) const { __builtin_prefetch(&header(leaves_[label].block)); }
  // Number of nodes above the leaf.
  std::uint32_t depth(LabelId label) const;

  // A digest of the topology: two trees have the same digest if and, up to 64-bit collisions, only if they are equal.
  std::uint64_t digest() const;
  // A digest of the sequence of splits, kept up to date with every label.
  std::uint64_t growth_digest() const { return growth_; }
  // Memory held.
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
