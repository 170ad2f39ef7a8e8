// The partitions of the model. Each tree has one partition for the root block, 16 for the blocks of level 1, and 256
// for the subtrees below them; those of tree t are numbered from t * kPartitions on.
//
// A partition moves, is stored and owns a region of the weight table as a whole. Their number is the same for any
// number of labels and ranks, so features collide in the table in the same way everywhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cpt {

using Partition = std::uint16_t;

inline constexpr Partition kRootPartition = 0;  // of the first tree
inline constexpr Partition kLevel1Partitions = 16;
inline constexpr Partition kDeepPartitions = 256;
inline constexpr Partition kPartitions = 1 + kLevel1Partitions + kDeepPartitions;  // of one tree

constexpr std::size_t tree_of(Partition partition) { return partition / kPartitions; }
// The partition of the root block of a tree.
constexpr Partition root_partition(std::size_t tree) { return static_cast<Partition>(tree * kPartitions); }
// The number of a partition in its tree.
constexpr Partition in_tree(Partition partition) { return partition % kPartitions; }

// The number of partitions that a vector indexed by partition covers.
template <class T>
Partition partitions_in(const std::vector<T>& by_partition) {
  return static_cast<Partition>(by_partition.size());
}

// The partition of the block at a position 16 .. 31 of a block of this partition and level.
constexpr Partition partition_below(Partition parent, std::uint8_t parent_level, std::uint8_t position) {
  const auto child = static_cast<Partition>(position - 16);
  const Partition root = parent - in_tree(parent);
  if (parent_level == 0) return static_cast<Partition>(root + 1 + child);
  if (parent_level == 1) {
    return static_cast<Partition>(root + 1 + kLevel1Partitions + (in_tree(parent) - 1) * 16 + child);
  }
  return parent;
}

// Number of partitions above this one: 0, 1 or 2.
constexpr std::size_t partition_level(Partition partition) {
  if (in_tree(partition) == 0) return 0;
  return in_tree(partition) <= kLevel1Partitions ? 1 : 2;
}

// The partition that this one hangs below. Not for the partition of a root.
constexpr Partition partition_above(Partition partition) {
  const Partition root = partition - in_tree(partition);
  if (partition_level(partition) == 1) return root;
  return static_cast<Partition>(root + 1 + (in_tree(partition) - kLevel1Partitions - 1) / 16);
}

}  // namespace cpt
