// The partitions of the model: the root block, the blocks of level 1, the subtrees from level 2 down.
//
// A partition is what moves, is stored and owns a region of the weight table as a whole. There are always kPartitions
// of them, whatever the number of labels or ranks, so collisions in the table are the same everywhere.
#pragma once

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

// The level-1 partition that a deep one hangs in.
constexpr Partition partition_above(Partition deep) {
  return static_cast<Partition>(1 + (deep - kLevel1Partitions - 1) / 16);
}

}  // namespace cpt
