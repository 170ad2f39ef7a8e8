#include "model/tree.h"

#include <algorithm>
#include <bit>

#include "cpt/hashing.h"

namespace cpt {

namespace {
constexpr std::uint8_t kLastSlot = 15;
constexpr std::uint64_t kRootKey = 0x9e3779b97f4a7c15ULL;
}  // namespace

std::uint32_t place_depth(std::uint8_t place) { return static_cast<std::uint32_t>(std::bit_width(place)) - 1; }

Tree::Tree() : links_{{.key = kRootKey, .partition = kRootPartition, .parent_place = 1}}, contents_(1) {}

LabelId Tree::add_first() {
  contents_[0].child[1] = Child::leaf(0);
  contents_[0].leaves[1] = 1;
  leaves_.push_back({0, 1});
  splits_.push_back(kNoLabel);
  return 0;
}

LabelId Tree::split(LabelId old) {
  const auto label = static_cast<LabelId>(leaves_.size());
  Hop node = leaves_[old];
  if (node.place > kLastSlot) node = {open_block(node), 1};

  BlockContent& content = contents_[node.block];
  const auto left = static_cast<std::uint8_t>(2 * node.place);
  const auto right = static_cast<std::uint8_t>(left + 1);
  content.child[node.place] = Child::node();
  content.child[left] = Child::leaf(old);
  content.child[right] = Child::leaf(label);
  content.leaves[left] = 1;
  content.leaves[right] = 1;
  leaves_[old] = {node.block, left};
  leaves_.push_back({node.block, right});
  splits_.push_back(old);

  for (Hop at = node;;) {
    for (std::uint32_t place = at.place; place >= 1; place /= 2) ++contents_[at.block].leaves[place];
    if (at.block == 0) return label;
    at = {links_[at.block].parent, links_[at.block].parent_place};
  }
}

BlockId Tree::open_block(Hop place) {
  const auto block = static_cast<BlockId>(links_.size());
  const BlockLink& parent = links_[place.block];
  BlockLink link;
  // From where the block hangs, not from when it was opened, so that whoever opens it knows its weights' places.
  link.key = mix(parent.key + place.place) | 1;
  link.parent = place.block;
  link.partition = partition_below(parent.partition, parent.level, place.place);
  link.parent_place = place.place;
  link.level = static_cast<std::uint8_t>(std::min(parent.level + 1, 255));
  links_.push_back(link);
  contents_.emplace_back();
  contents_[block].leaves[1] = 1;
  contents_[place.block].child[place.place] = Child::block(block);
  return block;
}

void Tree::path(LabelId label, std::vector<Hop>& path) const {
  path.clear();
  for (Hop at = leaves_[label];;) {
    path.push_back(at);
    if (at.block == 0) break;
    at = {links_[at.block].parent, links_[at.block].parent_place};
  }
  std::reverse(path.begin(), path.end());
}

std::uint32_t Tree::depth(LabelId label) const {
  std::uint32_t depth = 0;
  for (Hop at = leaves_[label];;) {
    depth += place_depth(at.place);
    if (at.block == 0) return depth;
    at = {links_[at.block].parent, links_[at.block].parent_place};
  }
}

std::uint64_t Tree::digest() const {
  std::uint64_t digest = mix(leaves_.size());
  for (const Hop& leaf : leaves_) digest = mix(digest + (links_[leaf.block].key ^ leaf.place));
  return digest;
}

}  // namespace cpt
