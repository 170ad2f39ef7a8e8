// The partitions of the model: the root block, the blocks of level 1, the subtrees from level 2 down.
//
// A partition is what moves, is stored and owns a region of the weight table as a whole. There are always kPartitions
// of them, whatever the number of labels or ranks, so collisions in the table are the same everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cpt {

using Partition = std::uint16_t;

inline constexpr Partition kRootPartition = 0;
inline constexpr Partition kLevel1Partitions = 16;
inline constexpr Partition kDeepPartitions = 256;
inline constexpr Partition kPartitions = 1 + kLevel1Partitions + kDeepPartitions;

// The partition of a block that hangs at place 16 .. 31 of a block of this partition and level.
constexpr Partition partition_below(Partition parent, std::uint8_t parent_level, std::uint8_t place) {
  const auto exit = static_cast<Partition>(place - 16);
  if (parent_level == 0) return static_cast<Partition>(1 + exit);
  if (parent_level == 1) return static_cast<Partition>(1 + kLevel1Partitions + (parent - 1) * 16 + exit);
  return parent;
}

// How many partitions lie above it: 0, 1 or 2.
constexpr std::size_t partition_level(Partition partition) {
  if (partition == kRootPartition) return 0;
  return partition <= kLevel1Partitions ? 1 : 2;
}

// The partition that this one, which is not the root's, hangs in.
constexpr Partition partition_above(Partition partition) {
  if (partition <= kLevel1Partitions) return kRootPartition;
  return static_cast<Partition>(1 + (partition - kLevel1Partitions - 1) / 16);
}

}  // namespace cpt
