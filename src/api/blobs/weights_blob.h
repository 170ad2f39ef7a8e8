// The weights of a partition as a stream of bytes: only the rows that were used, by their place in the region.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "api/blobs/stored_bytes.h"
#include "model/weights/weight_table.h"
#include "store/blob/blob_set.h"

namespace cpt {

// A partition is written as
//   partition (u32), runs (u32), then per run of 1024 rows of its region that holds any used row:
//   number of the run (u64), a bit per row that is used (128 bytes, lowest bit first),
//   for each of those rows a bit per lane that is not +0 (u16), and then all those lanes (f32).
// Most rows have trained a few lanes only, so this is a third of their size, and quick to make.
// All in the byte order of the machine, which is little-endian wherever this builds.

// Takes the bytes piece by piece, in order; a piece is valid during the call only.
using ByteSink = std::function<void(std::span<const std::byte>)>;

// Throws Error(kFailed), in the middle, where a weight is not finite: what cannot be gone on with takes no checkpoint's
// place.
void write_partition(const WeightTable& weights, Partition partition, const ByteSink& sink);
std::vector<std::byte> pack_partition(const WeightTable& weights, Partition partition);

// Reads what write_partition() wrote into a table of the same bits; rows that are not in it keep what they hold.
// Throws Error(kBadData) if it does not fit the table.
void read_partition(const StoredBytes& source, Partition partition, WeightTable& weights);
void read_partition(BlobReader& blob, Partition partition, WeightTable& weights);
// The same of all of `packed`; Error(kBadData) if it is too short or too long.
void unpack_partition(std::span<const std::byte> packed, Partition partition, WeightTable& weights);

// Reads and checks what write_partition() wrote, and keeps nothing of it. `weights` is any table of the same bits.
void skip_partition(BlobReader& blob, Partition partition, const WeightTable& weights);

}  // namespace cpt
