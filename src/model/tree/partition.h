// The partitions of the model: one of the root block, 16 of the blocks of level 1, and 256 of the subtrees below them.
//
// A partition moves, is stored and owns a region of the weight table as a whole. Their number is the same for any
// number of labels and ranks, so features collide in the table in the same way everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpt {

using Partition = std::uint16_t;

inline constexpr Partition kRootPartition = 0;
inline constexpr Partition kLevel1Partitions = 16;
inline constexpr Partition kDeepPartitions = 256;
inline constexpr Partition kPartitions = 1 + kLevel1Partitions + kDeepPartitions;

// The partition of the block at a position 16 .. 31 of a block of this partition and level.
constexpr Partition partition_below(Partition parent, std::uint8_t parent_level, std::uint8_t position) {
  const auto child = static_cast<Partition>(position - 16);
  if (parent_level == 0) return static_cast<Partition>(1 + child);
  if (parent_level == 1) return static_cast<Partition>(1 + kLevel1Partitions + (parent - 1) * 16 + child);
  return parent;
}

// Number of partitions above this one: 0, 1 or 2.
constexpr std::size_t partition_level(Partition partition) {
  if (partition == kRootPartition) return 0;
  return partition <= kLevel1Partitions ? 1 : 2;
}

// The partition that this one hangs below. Not for the root partition.
constexpr Partition partition_above(Partition partition) {
  if (partition <= kLevel1Partitions) return kRootPartition;
  return static_cast<Partition>(1 + (partition - kLevel1Partitions - 1) / 16);
}

}  // namespace cpt
