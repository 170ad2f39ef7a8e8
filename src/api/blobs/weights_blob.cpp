#include "api/blobs/weights_blob.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "core/bytes_of.h"
#include "core/checked.h"
#include "cpt/error.h"
#include "model/learning/learner.h"

namespace cpt {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::uint64_t kRun = 1024;
using Bitmap = std::array<std::uint64_t, kRun / 64>;

struct Header {
  std::uint32_t partition;
  std::uint32_t runs;
};
constexpr std::uint32_t kHasCalibrators = 1U << 31;

std::uint64_t runs_of(const Region& region) { return (region.rows + kRun - 1) / kRun; }

std::uint64_t rows_of_run(const Region& region, std::uint64_t run) { return std::min(kRun, region.rows - run * kRun); }

// The used rows of a run.
Bitmap find_used(const WeightTable& weights, const Region& region, std::uint64_t run) {
  Bitmap used{};
  const std::uint64_t first = region.first + run * kRun;
  for (std::uint64_t i = 0; i < rows_of_run(region, run); ++i) {
    used[i / 64] |= std::uint64_t{weights.used(first + i)} << (i % 64);
  }
  return used;
}

struct UsedRun {
  std::uint64_t number;
  Bitmap used;
};

// The runs with used rows, found once: keeping a bit of each row is faster than reading a large table again.
std::vector<UsedRun> find_used_runs(const WeightTable& weights, const Region& region) {
  std::vector<UsedRun> runs;
  for (std::uint64_t run = 0; run < runs_of(region); ++run) {
    const Bitmap used = find_used(weights, region, run);
    if (used != Bitmap{}) runs.push_back({run, used});
  }
  return runs;
}

template <class Visit>
void for_each_bit(const Bitmap& bits, Visit visit) {
  for (std::size_t word = 0; word < bits.size(); ++word) {
    for (std::uint64_t rest = bits[word]; rest != 0; rest &= rest - 1) {
      visit(word * 64 + static_cast<std::uint64_t>(std::countr_zero(rest)));
    }
  }
}

[[noreturn]] void refuse(Partition partition, const char* what) {
  throw Error(Fault::kBadData, "the weights of partition " + std::to_string(partition) + " are damaged: " + what);
}

// The rows of a run without their lanes that are +0.
class RowPacker {
 public:
  RowPacker() : masks_(kRun), lanes_(kRun * kLanes) {}

  void clear() { rows_ = used_lanes_ = 0; }

  // Without a branch: the processor could not predict which lanes are +0.
  void append(const float* row) {
    std::uint32_t mask = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      const bool there = std::bit_cast<std::uint32_t>(row[lane]) != 0;
      mask |= static_cast<std::uint32_t>(there) << lane;
      lanes_[used_lanes_] = row[lane];
      used_lanes_ += there ? 1 : 0;
    }
    masks_[rows_++] = static_cast<std::uint16_t>(mask);
  }

  bool finite() const {
    bool all = true;
    for (const float lane : lanes()) all &= std::isfinite(lane);
    return all;
  }

  // By row: bit s is set if lane s is in lanes().
  std::span<const std::uint16_t> masks() const { return {masks_.data(), rows_}; }
  std::span<const float> lanes() const { return {lanes_.data(), used_lanes_}; }

 private:
  std::vector<std::uint16_t> masks_;
  std::vector<float> lanes_;
  std::size_t rows_ = 0;
  std::size_t used_lanes_ = 0;
};

// The result of a RowPacker, read back.
struct PackedRows {
  std::vector<std::uint16_t> masks;
  std::vector<float> lanes;

  std::size_t lanes_expected() const {
    std::size_t count = 0;
    for (std::uint16_t mask : masks) count += static_cast<std::size_t>(std::popcount(mask));
    return count;
  }
};

PackedRows read_packed(const StoredBytes& source, std::size_t rows) {
  PackedRows packed;
  packed.masks.resize(rows);
  source(std::as_writable_bytes(std::span(packed.masks)));
  packed.lanes.resize(packed.lanes_expected());
  source(std::as_writable_bytes(std::span(packed.lanes)));
  return packed;
}

// Calls visit(index, mask, lanes) with each row of the table and those of its lanes that are not +0.
template <class Visit>
void read_run(const StoredBytes& source, const Region& region, std::uint64_t run, Partition partition, Visit visit) {
  const auto used = read_value<Bitmap>(source);
  std::vector<std::uint64_t> rows;
  for_each_bit(used, [&](std::uint64_t i) { rows.push_back(i); });
  if (!rows.empty() && rows.back() >= rows_of_run(region, run)) refuse(partition, "a row beyond its region");

  const PackedRows packed = read_packed(source, rows.size());
  const float* next = packed.lanes.data();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    visit(region.first + run * kRun + rows[i], packed.masks[i], next);
    next += std::popcount(packed.masks[i]);
  }
}

// Returns whether calibrators follow.
template <class Visit>
bool read_runs(const StoredBytes& source, const Region& region, Partition partition, Visit visit) {
  const auto header = read_value<Header>(source);
  if (header.partition != partition) refuse(partition, "another partition is in its place");
  std::uint64_t next = 0;
  for (std::uint32_t i = 0; i < (header.runs & ~kHasCalibrators); ++i) {
    const auto run = read_value<std::uint64_t>(source);
    if (run >= runs_of(region)) refuse(partition, "a run beyond its region");
    if (run < next) refuse(partition, "runs out of order");
    next = run + 1;
    read_run(source, region, run, partition, visit);
  }
  return (header.runs & kHasCalibrators) != 0;
}

// A bit for each lane of a calibrator that differs from kFirstCalibrator.
std::uint16_t used_lanes(const Calibrator& calibrator) {
  std::uint32_t mask = 0;
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    for (std::size_t number = 0; number < Calibrator::kNumbers; ++number) {
      const bool moved = std::bit_cast<std::uint32_t>(calibrator.at(lane, number)) !=
                         std::bit_cast<std::uint32_t>(kFirstCalibrator.at(lane, number));
      mask |= static_cast<std::uint32_t>(moved) << lane;
    }
  }
  return static_cast<std::uint16_t>(mask);
}

void write_calibrators(const Calibrators& calibrators, Partition partition, const ByteSink& sink) {
  const std::vector<std::uint64_t> keys = calibrators.keys(partition);
  sink(bytes_of(narrow<std::uint32_t>(keys.size(), "calibrators of a partition")));
  std::vector<float> lanes;
  for (const std::uint64_t key : keys) {
    const Calibrator& calibrator = *calibrators.find(key);
    const std::uint16_t mask = used_lanes(calibrator);
    lanes.clear();
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      lanes.insert(lanes.end(), calibrator.node(lane), calibrator.node(lane) + Calibrator::kNumbers);
    }
    if (!std::ranges::all_of(lanes, [](float value) { return std::isfinite(value); })) throw_diverged();
    sink(bytes_of(key));
    sink(bytes_of(mask));
    sink(std::as_bytes(std::span(lanes)));
  }
}

// Calls visit(key, calibrator).
template <class Visit>
void read_calibrators(const StoredBytes& source, Partition partition, Visit visit) {
  const auto count = read_value<std::uint32_t>(source);
  std::uint64_t last = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto key = read_value<std::uint64_t>(source);
    if (key % 2 == 0 || key <= last) refuse(partition, "the key of a calibrator makes no sense");
    last = key;
    const auto mask = read_value<std::uint16_t>(source);
    Calibrator calibrator = kFirstCalibrator;
    if ((mask & 1) != 0) refuse(partition, "a calibrator of no node");
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
      if ((mask >> lane & 1) == 0) continue;
      const auto values = read_value<std::array<float, Calibrator::kNumbers>>(source);
      if (!std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
        refuse(partition, "a calibrator is not finite");
      }
      std::ranges::copy(values, calibrator.node(lane));
    }
    visit(key, calibrator);
  }
}

// All regions of a table of 64 MiB or more have at least this many rows. Compared with such a region, a segment of its
// own costs little.
constexpr std::uint64_t kRowsForOwnSegments = 2048;
// The least number of bytes between two cuts among small partitions.
constexpr std::uint64_t kLeastCut = std::uint64_t{256} << 10;
constexpr std::uint64_t kBytesAtOnce = std::uint64_t{1} << 20;

}  // namespace

void write_partition(const WeightTable& weights, Partition partition, const ByteSink& sink) {
  const Region& region = weights.region(partition);
  const std::vector<UsedRun> runs = find_used_runs(weights, region);
  const bool calibrated = weights.calibrators().size(partition) > 0;
  if (runs.size() >= kHasCalibrators) throw Error(Fault::kFailed, "a partition has more rows than can be written");
  sink(bytes_of(Header{partition, static_cast<std::uint32_t>(runs.size()) | (calibrated ? kHasCalibrators : 0)}));
  RowPacker packer;
  for (const UsedRun& run : runs) {
    packer.clear();
    for_each_bit(run.used, [&](std::uint64_t i) { packer.append(weights.row(region.first + run.number * kRun + i)); });
    if (!packer.finite()) throw_diverged();
    sink(bytes_of(run.number));
    sink(bytes_of(run.used));
    sink(std::as_bytes(packer.masks()));
    sink(std::as_bytes(packer.lanes()));
  }
  if (calibrated) write_calibrators(weights.calibrators(), partition, sink);
}

std::vector<std::byte> pack_partition(const WeightTable& weights, Partition partition) {
  std::vector<std::byte> packed;
  write_partition(weights, partition, ByteSink([&](std::span<const std::byte> bytes) {
                    packed.insert(packed.end(), bytes.begin(), bytes.end());
                  }));
  return packed;
}

void read_partition(const StoredBytes& source, Partition partition, WeightTable& weights) {
  const bool calibrated = read_runs(source, weights.region(partition), partition,
                                    [&](std::uint64_t index, std::uint16_t mask, const float* lanes) {
                                      float* row = weights.row(index);
                                      for (std::size_t lane = 0; lane < kLanes; ++lane)
                                        row[lane] = (mask >> lane & 1) != 0 ? *lanes++ : 0.0F;
                                    });
  if (!calibrated) return;
  read_calibrators(source, partition, [&](std::uint64_t key, const Calibrator& calibrator) {
    weights.calibrators().add(partition, key) = calibrator;
  });
}

void read_partition(BlobReader& blob, Partition partition, WeightTable& weights) {
  read_partition(front_of(blob), partition, weights);
}

void unpack_partition(std::span<const std::byte> packed, Partition partition, WeightTable& weights) {
  read_partition(front_of(packed, [&] { refuse(partition, "they end too early"); }), partition, weights);
  if (!packed.empty()) refuse(partition, "bytes follow their end");
}

void skip_partition(BlobReader& blob, Partition partition, const WeightTable& weights) {
  const StoredBytes source = front_of(blob);
  const bool calibrated =
      read_runs(source, weights.region(partition), partition, [](std::uint64_t, std::uint16_t, const float*) {});
  if (calibrated) read_calibrators(source, partition, [](std::uint64_t, const Calibrator&) {});
}

bool WeightsWriter::has_own_segments(Partition partition) const {
  return regions_[partition].rows >= kRowsForOwnSegments;
}

void WeightsWriter::begin(Partition partition) {
  if (has_own_segments(partition)) blob_.cut();
}

void WeightsWriter::end(Partition partition) {
  if (!has_own_segments(partition) && blob_.raw_bytes() - cut_ < kLeastCut) return;
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
  if (has_own_segments(partition)) {
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
