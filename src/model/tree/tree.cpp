#include "model/tree/tree.h"

#include <algorithm>

#include "cpt/hashing.h"

namespace cpt {

LabelId Tree::add_first() {
  blocks_.hang({0, 1}, Child::leaf(0), 1);
  add_leaf({0, 1}, kNoLabel);
  return 0;
}

LabelId Tree::split(LabelId old) {
  const auto label = static_cast<LabelId>(leaves_.size());
  PathStep node = leaves_[old];
  if (node.place > kLastSlot) node = {blocks_.open(node), 1};
  blocks_.split(node, old, label);
  const auto left = static_cast<std::uint8_t>(2 * node.place);
  leaves_[old] = {node.block, left};
  add_leaf({node.block, static_cast<std::uint8_t>(left + 1)}, old);
  return label;
}

void Tree::add_leaf(PathStep leaf, LabelId split) {
  leaves_.push_back(leaf);
  splits_.push_back(split);
  growth_ = mix(growth_ + split);
}

void Tree::path(LabelId label, std::vector<PathStep>& path) const {
  path.clear();
  for (PathStep at = leaves_[label];;) {
    path.push_back(at);
    if (at.block == 0) break;
    at = {link(at.block).parent, link(at.block).parent_place};
  }
  // Part by part: a hop that was written right before is not read whole without waiting for its parts.
  for (auto first = path.begin(), last = path.end() - 1; first < last; ++first, --last) {
    std::swap(first->block, last->block);
    std::swap(first->place, last->place);
  }
}

void Tree::places(LabelId label, std::vector<std::uint8_t>& places) const {
  places.clear();
  for (PathStep at = leaves_[label];;) {
    places.push_back(at.place);
    if (at.block == 0) break;
    const BlockHeader& block = link(at.block);
    at = {block.parent, block.parent_place};
  }
  std::reverse(places.begin(), places.end());
}

std::uint32_t Tree::depth(LabelId label) const {
  std::uint32_t depth = 0;
  for (PathStep at = leaves_[label];;) {
    depth += place_depth(at.place);
    if (at.block == 0) return depth;
    at = {link(at.block).parent, link(at.block).parent_place};
  }
}

std::uint64_t Tree::digest() const {
  std::uint64_t digest = mix(leaves_.size());
  for (const PathStep& leaf : leaves_) digest = mix(digest + (link(leaf.block).key ^ leaf.place));
  return digest;
}

}  // namespace cpt
