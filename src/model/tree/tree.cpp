#include "model/tree/tree.h"

#include <algorithm>

#include "cpt/hashing.h"

namespace cpt {

LabelId Tree::add_first() {
  blocks_.set({0, 1}, Child::leaf(0), 1);
  add_leaf({0, 1}, kNoLabel);
  return 0;
}

LabelId Tree::split(LabelId old) {
  const auto label = static_cast<LabelId>(leaves_.size());
  const PathStep node = blocks_.split(leaves_[old], old, label);
  const auto left = static_cast<std::uint8_t>(2 * node.position);
  leaves_[old] = {node.block, left};
  add_leaf({node.block, static_cast<std::uint8_t>(left + 1)}, old);
  return label;
}

void Tree::add_leaf(PathStep leaf, LabelId split) {
  leaves_.push_back(leaf);
  splits_.push_back(split);
  growth_ = mix(growth_ + split);
}

void Tree::positions(LabelId label, std::vector<std::uint8_t>& positions) const {
  positions.clear();
  blocks_.climb(leaves_[label], [&](PathStep step) { positions.push_back(step.position); });
  std::reverse(positions.begin(), positions.end());
}

std::uint32_t Tree::depth(LabelId label) const {
  std::uint32_t depth = 0;
  blocks_.climb(leaves_[label], [&](PathStep step) { depth += position_depth(step.position); });
  return depth;
}

std::uint64_t Tree::digest() const {
  std::uint64_t digest = mix(leaves_.size());
  for (const PathStep& leaf : leaves_) digest = mix(digest + (header(leaf.block).key ^ leaf.position));
  return digest;
}

}  // namespace cpt
