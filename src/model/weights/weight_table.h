// The weight table: one hashed array of 64-byte rows that holds the weights of all regressors.
//
// A row of 16 floats holds all weights of one feature in one block: lane 0 is the sum of squared gradients, lanes
// 1 .. 15 are the weights of the block's regressors. No keys are stored; features that fall on one row share it (the
// hashing trick).
//
// Why one sum for 15 weights, and why floats? Prototypes of the alternatives gave these results (log loss / squared
// loss on seen labels of the test part, 22 bits, adaptive, logistic; rcv1, nvd, the first 300,000 examples of novels, a
// million events of web-ads):
//                                     rcv1            nvd             novels          web-ads
//   one sum per row                   1.760 / 0.552   2.541 / 0.438   5.436 / 0.883   3.520 / 0.725
//   one per lane, rate 0.35           1.730 / 0.543   2.590 / 0.452   5.383 / 0.883   3.440 / 0.723
//   rounded to half precision         1.761 / 0.553   2.518 / 0.437   5.437 / 0.883   3.521 / 0.726
//   rounded to bfloat16               1.777 / 0.562   2.521 / 0.441   5.450 / 0.889   3.553 / 0.739
// One sum per lane (with the best of the rates 0.35, 0.5, 0.7 and 1) improves log loss by 1 or 2 percent on three sets
// and worsens it as much on the fourth, but its second row per feature and block costs a third of the speed (1.6 M
// examples of novels, 24 bits, one core: 575,000 instead of 890,000 examples a second, and 5.105 / 0.867 instead of
// 5.129 / 0.865). Half precision costs almost no accuracy. It would allow blocks of five levels, which save one row in
// five on a path of twenty nodes and none on one of sixteen, but compute twice the lanes. Its speed was not measured.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/zeroed_memory.h"
#include "cpt/options.h"
#include "model/tree/partition.h"
#include "model/weights/calibrators.h"

namespace cpt {

// Whether all lanes of a row are finite.
inline bool is_finite(std::span<const float, kLanes> row) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t bad = 0;  // no early exit: the compiler then compares several lanes at a time
  for (const float value : row) bad |= (std::bit_cast<std::uint32_t>(value) & kExponent) == kExponent ? 1U : 0U;
  return bad == 0;
}

// The rows of one partition, which are contiguous in the table.
struct Region {
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
};

// 2^bits rows for each tree of the model, all zero at first, 64-byte aligned, on huge pages if the system has them. The
// system provides the memory of a row when it is first written. Not thread-safe.
class WeightTable {
 public:
  // bits in [kLeastBits, kMostBits]. Throws Error(kFailed) if there is not enough address space.
  explicit WeightTable(int bits, int trees = 1);

  int bits() const { return bits_; }
  std::uint64_t rows() const { return static_cast<std::uint64_t>(trees_) << bits_; }
  // Of all trees.
  Partition partitions() const { return static_cast<Partition>(regions_.size()); }
  std::uint64_t bytes() const { return rows() * sizeof(Row); }

  float* row(std::uint64_t index) { return base_.get() + index * kLanes; }
  const float* row(std::uint64_t index) const { return base_.get() + index * kLanes; }
  // The inverse of row().
  std::uint64_t index_of(const float* row) const { return static_cast<std::uint64_t>(row - base_.get()) / kLanes; }
  // The calibrators of all blocks of nodes; cleared and surveyed together with the rows.
  const Calibrators& calibrators() const { return calibrators_; }
  Calibrators& calibrators() { return calibrators_; }
  const Region& region(Partition partition) const { return regions_[partition]; }
  // Where the rows of a partition lie.
  std::span<std::byte> memory(Partition partition) {
    const Region& region = regions_[partition];
    return std::as_writable_bytes(std::span(row(region.first), region.rows * kLanes));
  }
  Region whole() const { return {0, rows()}; }

  // The row of a feature in a block with this (odd) key, in the region of its partition. feature * key is a
  // multiply-shift hash that differs from block to block; the high half of the second product scales it to the region.
  // find_rows() computes the same for many features at a time.
  static std::uint64_t index(std::uint64_t feature, std::uint64_t key, const Region& region) {
    __extension__ using Wide = unsigned __int128;
    return region.first + static_cast<std::uint64_t>((static_cast<Wide>(feature * key) * region.rows) >> 64);
  }

  // Whether a row was ever trained: lane 0 is above 0, or NaN, which must not pass for an unused row.
  bool used(std::uint64_t index) const { return !(row(index)[0] <= 0); }
  std::uint64_t digest() const { return survey().digest; }
  // Figures about the used rows and the calibrators, computed in one pass.
  struct Survey {
    std::uint64_t used = 0;    // rows
    std::uint64_t digest = 0;  // sum of digest_of() over the used rows, and of the digests of calibrators
    bool finite = true;        // no weight of a used row, and no calibrator, is NaN or infinite

    void add(const Survey& other);
  };
  // The survey of the table is the sum of the surveys of its partitions, so ranks can add up those they own.
  Survey survey() const;
  Survey survey(Partition partition) const;
  // The share of one row in the digest.
  static std::uint64_t digest_of(const float* row, std::uint64_t index);

  // Sets all rows of the partition to zero and returns their memory to the system, except for pages shared with other
  // partitions.
  void clear(Partition partition);

 private:
  int bits_;
  int trees_;
  std::vector<Region> regions_;
  ZeroedArray<float> base_;
  Calibrators calibrators_;
};

// The regions of the partitions of a table; a function of its size alone.
std::vector<Region> divide_table(int bits, int trees = 1);

}  // namespace cpt
