#include "api/blobs/weights_writer.h"

#include <algorithm>
#include <vector>

#include "api/blobs/weights_blob.h"

namespace cpt {

namespace {

// All regions of a table of 64 MiB and more: a segment for each costs little beside them.
constexpr std::uint64_t kRowsOfItsOwn = 2048;
// Weights that were written since the last cut: partitions smaller than this share a segment.
constexpr std::uint64_t kLeastCut = std::uint64_t{256} << 10;
constexpr std::uint64_t kBytesAtOnce = std::uint64_t{1} << 20;

}  // namespace

bool WeightsWriter::stands_apart(Partition partition) const { return regions_[partition].rows >= kRowsOfItsOwn; }

void WeightsWriter::begin(Partition partition) {
  if (stands_apart(partition)) blob_.cut();
}

void WeightsWriter::end(Partition partition) {
  if (!stands_apart(partition) && blob_.raw_bytes() - cut_ < kLeastCut) return;
  blob_.cut();
  cut_ = blob_.raw_bytes();
}

void WeightsWriter::write(const WeightTable& weights, Partition partition) {
  begin(partition);
  write_partition(weights, partition, [&](std::span<const std::byte> bytes) { blob_.append(bytes); });
  end(partition);
}

void WeightsWriter::append(Partition partition, std::span<const std::byte> packed) {
  begin(partition);
  blob_.append(packed);
  end(partition);
}

void WeightsWriter::take(Partition partition, BlobReader& from, std::uint64_t raw_bytes) {
  begin(partition);
  if (stands_apart(partition)) {
    blob_.append_stored(from, raw_bytes);
  } else {
    std::vector<std::byte> piece;
    for (std::uint64_t left = raw_bytes; left > 0; left -= piece.size()) {
      piece.resize(std::min(left, kBytesAtOnce));
      from.read_exactly(piece);
      blob_.append(piece);
    }
  }
  end(partition);
}

}  // namespace cpt
