#include "model/tree/blocks.h"

#include <algorithm>
#include <utility>

#include "cpt/hashing.h"

namespace cpt {

namespace {
constexpr std::uint64_t kRootKey = 0x9e3779b97f4a7c15ULL;
}  // namespace

BlockHeader root_header(std::size_t tree) {
  const std::uint64_t key = tree == 0 ? kRootKey : mix(kRootKey + tree) | 1;
  return {.key = key, .partition = root_partition(tree), .parent_position = 1};
}

BlockHeader header_below(const BlockHeader& parent, BlockId parent_id, std::uint8_t position) {
  BlockHeader header;
  header.key = key_below(parent.key, position);
  header.parent = parent_id;
  header.partition = partition_below(parent.partition, parent.level, position);
  header.parent_position = position;
  header.level = static_cast<std::uint8_t>(std::min(parent.level + 1, 255));
  return header;
}

BlockHeader top_header(Partition partition) {
  const Partition number = in_tree(partition);
  if (number == 0) return root_header(tree_of(partition));
  const int position = number <= kLevel1Partitions ? 15 + number : 16 + (number - kLevel1Partitions - 1) % 16;
  return header_below(top_header(partition_above(partition)), 0, static_cast<std::uint8_t>(position));
}

void Blocks::append_path_to(PathStep end, std::vector<PathStep>& path) const {
  const auto begin = static_cast<std::ptrdiff_t>(path.size());
  climb(end, [&](PathStep step) { path.push_back(step); });
  // Swapped member by member: reading a whole step just after its members were written would stall the processor.
  for (auto first = path.begin() + begin, last = path.end() - 1; first < last; ++first, --last) {
    std::swap(first->block, last->block);
    std::swap(first->position, last->position);
  }
}

void Blocks::set(PathStep at, Child child, std::uint32_t leaves) {
  BlockNodes& nodes = nodes_[at.block];
  nodes.child[at.position] = child;
  nodes.leaves[at.position] = leaves;
  if (child.kind() == Child::Kind::kNothing) return;
  for (std::uint32_t position = at.position; position < 32; position *= 2) nodes.occupied |= 1U << position;
}

BlockId Blocks::open(PathStep at) {
  const auto block = static_cast<BlockId>(headers_.size());
  headers_.push_back(header_below(headers_[at.block], at.block, at.position));
  nodes_.emplace_back();
  nodes_[block].leaves[1] = 1;
  nodes_[at.block].child[at.position] = Child::block(block);
  return block;
}

PathStep Blocks::split(PathStep leaf, LabelId left, LabelId right) {
  const PathStep node = leaf.position <= kLastSlot ? leaf : PathStep{open(leaf), 1};
  const auto left_position = static_cast<std::uint8_t>(2 * node.position);
  nodes_[node.block].child[node.position] = Child::node();
  set({node.block, left_position}, Child::leaf(left), 1);
  set({node.block, static_cast<std::uint8_t>(left_position + 1)}, Child::leaf(right), 1);
  count_leaf(node);
  return node;
}

void Blocks::count_leaf(PathStep at) {
  climb(at, [this](PathStep step) {
    std::array<std::uint32_t, 32>& leaves = nodes_[step.block].leaves;
    for (std::uint32_t position = step.position; position >= 1; position /= 2) ++leaves[position];
  });
}

}  // namespace cpt
