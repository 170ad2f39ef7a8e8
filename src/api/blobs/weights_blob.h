// The weights of a partition as bytes: only the used rows, each with its index in the region.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "model/weights/weight_table.h"
#include "store/blob/archive.h"
#include "store/blob/blob_set.h"

namespace cpt {

// A partition is written as
//   partition (u32), runs (u32), then per run of 1024 rows of its region that holds any used row:
//   number of the run (u64), a bit per row that is used (128 bytes, lowest bit first),
//   for each of those rows a bit per lane that is not +0 (u16), and then all those lanes (f32).
// If it has calibrators, the highest bit of `runs` is set, and after the runs follow their number (u32), and for each
// by ascending key: key (u64), a bit per lane that differs from its first state (u16), and for each of those lanes its
// nine floats. Most rows have trained only a few lanes, so this takes a third of their size, and little time. All
// numbers are little-endian.

// Takes the bytes piece by piece, in order; a piece is valid only during the call.
using ByteSink = std::function<void(std::span<const std::byte>)>;

// Throws Error(kFailed), possibly after some pieces, if a weight is not finite: such weights must not replace a good
// checkpoint.
void write_partition(const WeightTable& weights, Partition partition, const ByteSink& sink);
std::vector<std::byte> pack_partition(const WeightTable& weights, Partition partition);

// Reads into `weights` a partition that write_partition() wrote from a table with the same number of bits; rows that
// were not written keep their values. Throws Error(kBadData) if it does not fit the table.
void read_partition(const StoredBytes& source, Partition partition, WeightTable& weights);
void read_partition(BlobReader& blob, Partition partition, WeightTable& weights);
// The same for all of `packed`; throws Error(kBadData) if it is too short or too long.
void unpack_partition(std::span<const std::byte> packed, Partition partition, WeightTable& weights);

// Reads and checks such a partition without keeping it. `weights` is any table with the same number of bits.
void skip_partition(BlobReader& blob, Partition partition, const WeightTable& weights);

// Writes partitions of weights into a blob and cuts it, so that partitions can be reached, and large ones moved to
// another blob as they are stored. The cuts depend only on the partitions and on the size of the table, so the same
// partitions in the same order give the same bytes. A partition with a large region has segments of its own; small ones
// share them, up to a cut after each 256 KiB at the end of a partition. Borrows the blob.
class WeightsWriter {
 public:
  // Of a model with these options.
  WeightsWriter(BlobWriter& blob, const ModelOptions& options)
      : blob_(blob), regions_(divide_table(options.table_bits(), options.trees)) {}

  // Throws as write_partition() does.
  void write(const WeightTable& weights, Partition partition);
  // `packed` is the result of pack_partition().
  void append(Partition partition, std::span<const std::byte> packed);
  // Appends the next `raw_bytes` of a blob that was also written by a WeightsWriter: the whole partition. Does not
  // compress a partition with segments of its own again. Throws Error(kBadData) if the blob is damaged.
  void take(Partition partition, BlobReader& from, std::uint64_t raw_bytes);

 private:
  bool has_own_segments(Partition partition) const;
  void begin(Partition partition);
  void end(Partition partition);

  BlobWriter& blob_;
  std::vector<Region> regions_;
  std::uint64_t cut_ = 0;  // where the blob was cut last
};

}  // namespace cpt
