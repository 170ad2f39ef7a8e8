// Owners of the partitions of one tree, for tests.
#pragma once

#include "train/placement/ownership.h"

namespace cpt {

// Everything on one rank except for the root.
inline Owners all_on(int rank) {
  Owners owners(kPartitions, rank);
  owners[kRootPartition] = 0;
  return owners;
}

}  // namespace cpt
