// Where in a checkpoint the weights lie: its blob "partitions".
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/tree/partition.h"
#include "store/blob/blob_set.h"

namespace cpt {

// Where a partition lies.
struct PartitionPlace {
  Partition partition = 0;
  std::string blob;
  std::uint64_t offset = 0;  // of its raw bytes
  std::uint64_t bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(partition, blob, offset, bytes);
  }
};

using PartitionPlaces = std::array<PartitionPlace, kPartitions>;  // by partition

// Those of a checkpoint. Partitions fill their blobs, one after the other: within a blob they ascend, and none overlaps
// another. Throws Error(kBadData) where that does not hold.
PartitionPlaces read_places(const BlobSetReader& checkpoint);

}  // namespace cpt
