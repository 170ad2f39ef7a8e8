// Partitions of weights on their way into a blob, which is cut so that they can be reached, and large ones be moved to
// another blob as they are stored.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/weights/weight_table.h"
#include "store/blob/blob_set.h"

namespace cpt {

// Cuts depend on the partitions and on the size of the table alone: whoever writes the same ones in the same order
// writes the same bytes. A partition with a large region has segments of its own; small ones share them, up to a cut
// after each 256 KiB at the end of a partition. Borrows the blob.
class WeightsWriter {
 public:
  // `bits`: of the table, see WeightTable.
  WeightsWriter(BlobWriter& blob, int bits) : blob_(blob), regions_(divide_table(bits)) {}

  // As write_partition() does.
  void write(const WeightTable& weights, Partition partition);
  // What pack_partition() returned.
  void append(Partition partition, std::span<const std::byte> packed);
  // The next `raw_bytes` of a blob that was written here, too: all of the partition. One with segments of its own is
  // not compressed again. Throws Error(kBadData) where it is damaged.
  void take(Partition partition, BlobReader& from, std::uint64_t raw_bytes);

 private:
  bool stands_apart(Partition partition) const;
  void begin(Partition partition);
  void end(Partition partition);

  BlobWriter& blob_;
  std::array<Region, kPartitions> regions_;
  std::uint64_t cut_ = 0;  // where the blob was cut last
};

}  // namespace cpt
