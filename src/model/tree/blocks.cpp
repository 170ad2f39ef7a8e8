#include "model/tree/blocks.h"

#include <algorithm>

namespace cpt {

namespace {
constexpr std::uint64_t kRootKey = 0x9e3779b97f4a7c15ULL;
}  // namespace

BlockHeader root_link() { return {.key = kRootKey, .partition = kRootPartition, .parent_place = 1}; }

BlockHeader link_below(const BlockHeader& parent, BlockId parent_id, std::uint8_t place) {
  BlockHeader link;
  link.key = key_below(parent.key, place);
  link.parent = parent_id;
  link.partition = partition_below(parent.partition, parent.level, place);
  link.parent_place = place;
  link.level = static_cast<std::uint8_t>(std::min(parent.level + 1, 255));
  return link;
}

BlockHeader top_link(Partition partition) {
  if (partition == kRootPartition) return root_link();
  if (partition <= kLevel1Partitions) return link_below(root_link(), 0, static_cast<std::uint8_t>(15 + partition));
  return link_below(top_link(partition_above(partition)), 0,
                    static_cast<std::uint8_t>(16 + (partition - kLevel1Partitions - 1) % 16));
}

void Blocks::hang(PathStep at, Child child, std::uint32_t leaves) {
  BlockNodes& content = contents_[at.block];
  content.child[at.place] = child;
  content.leaves[at.place] = leaves;
  if (child.kind() == Child::Kind::kNothing) return;
  for (std::uint32_t place = at.place; place < 32; place *= 2) content.occupied |= 1U << place;
}

BlockId Blocks::open(PathStep at) {
  const auto block = static_cast<BlockId>(links_.size());
  links_.push_back(link_below(links_[at.block], at.block, at.place));
  contents_.emplace_back();
  contents_[block].leaves[1] = 1;
  contents_[at.block].child[at.place] = Child::block(block);
  return block;
}

void Blocks::split(PathStep node, LabelId left, LabelId right) {
  const auto left_place = static_cast<std::uint8_t>(2 * node.place);
  const auto right_place = static_cast<std::uint8_t>(left_place + 1);
  contents_[node.block].child[node.place] = Child::node();
  hang({node.block, left_place}, Child::leaf(left), 1);
  hang({node.block, right_place}, Child::leaf(right), 1);
  count_leaf(node);
}

void Blocks::count_leaf(PathStep at) {
  for (;;) {
    for (std::uint32_t place = at.place; place >= 1; place /= 2) ++contents_[at.block].leaves[place];
    if (at.block == 0) return;
    at = {links_[at.block].parent, links_[at.block].parent_place};
  }
}

}  // namespace cpt
