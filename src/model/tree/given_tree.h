// A given tree as a sequence of splits: any full binary tree can be grown by them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpt/error.h"
#include "model/tree/labels.h"

namespace cpt {

// Leaves that make no full binary tree: Error(kBadData), whose text does not say where.
class NoTree : public Error {
 public:
  enum class Flaw : std::uint8_t {
    kSamePlace,  // `leaf` is where `other` is
    kBelowLeaf,  // `leaf` is below `other`
    kOneChild,   // no leaf is at or below the path `missing`, though `leaf` is below the node above it
  };
  NoTree(Flaw flaw, std::size_t leaf, std::size_t other);
  NoTree(std::size_t leaf, std::string missing);

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

// "Leaf `leaf` becomes the next label by splitting the leaf of label `split`."
struct LeafSplit {
  std::uint32_t leaf = 0;
  LabelId split = kNoLabel;  // kNoLabel: the first label of all
};

// The splits by which Tree::split() grows the tree whose leaf i hangs at paths[i]: the sides from the root on, '0' =
// left and '1' = right, nothing else; empty if it is the only leaf. The leftmost leaf is label 0. A node is made once
// the node above it is there, by the label that is leftmost right of it, which splits the label that is leftmost left
// of it; of the labels that may join, the next is always the one that comes first in `paths`. So leaves listed by their
// labels' numbers get these numbers again. Takes the time of sorting the paths, and no stack that grows with the tree's
// depth. Throws NoTree.
std::vector<LeafSplit> leaf_splits_of(std::span<const std::string_view> paths);

}  // namespace cpt
