// Trees given before training: turns the paths of a tree's leaves into the splits that grow it, and computes the paths
// of Huffman's tree.
//
// A path is the sides taken from the root down, '0' = left and '1' = right; it is empty for the only leaf of a tree.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpt/error.h"
#include "model/tree/labels.h"

namespace cpt {

// The paths are not those of a full binary tree. An Error(kBadData) whose text does not say where.
class InvalidTree : public Error {
 public:
  enum class Flaw : std::uint8_t {
    kSamePath,   // `leaf` has the same path as `other`
    kBelowLeaf,  // `leaf` is below `other`
    kOneChild,   // `leaf` is below the parent of the path `missing`, but no leaf is at or below `missing`
  };
  InvalidTree(Flaw flaw, std::size_t leaf, std::size_t other);
  InvalidTree(std::size_t leaf, std::string missing);

  Flaw flaw() const { return flaw_; }
  std::size_t leaf() const { return leaf_; }
  std::size_t other() const { return other_; }
  const std::string& missing() const { return missing_; }

 private:
  Flaw flaw_;
  std::size_t leaf_;
  std::size_t other_ = 0;
  std::string missing_;
};

// Leaf `leaf` becomes the next label by splitting the leaf of label `split`.
struct LeafSplit {
  std::uint32_t leaf = 0;
  LabelId split = kNoLabel;  // kNoLabel: the first label
};

// The splits with which Tree::split() grows the tree whose leaf i has paths[i]. Any full binary tree can be grown in
// this way. The leftmost leaf is label 0. A node is made once the node above it exists: the leftmost label on its right
// splits the leftmost label on its left. The next label is always the first one in `paths` that can be added, so leaves
// listed by label id get the same ids again. Takes the time of sorting the paths, and does not recurse. Throws
// InvalidTree.
std::vector<LeafSplit> leaf_splits_of(std::span<const std::string_view> paths);

// The path of every leaf of Huffman's tree, in which frequent labels are near the root: no full binary tree has a
// smaller sum of counts[i] times the depth of leaf i. Merges the two lightest subtrees until one is left, the heavier
// one on the left. Of equal weights, a leaf counts as lighter than a larger subtree, and what came first as lighter
// than what came later. REQUIRES: every count is at least 1, and their sum is below 2^64.
std::vector<std::string> huffman_paths(std::span<const std::uint64_t> counts);

}  // namespace cpt
