// The weights of all node regressors: one hashed array of 64-byte rows.
//
// A row holds all weights of one (feature, block): lane 0 is the sum of squared gradients, lanes 1 .. 15 the weights
// of the slots. No keys are stored; features that fall on one row share it (the hashing trick).
//
// Why one sum for 15 weights, and floats: both were tried otherwise, as prototypes that leave the rest as it is (22
// bits, adaptive, logistic; log loss / squared loss on seen labels of the test part; rcv1, nvd, the first 300,000 of
// novels, a million events of web-ads).
//                                     rcv1            nvd             novels          web-ads
//   one sum per row                  1.760 / 0.552   2.541 / 0.438   5.436 / 0.883   3.520 / 0.725
//   one per lane, rate 0.35           1.730 / 0.543   2.590 / 0.452   5.383 / 0.883   3.440 / 0.723
//   rounded to half precision         1.761 / 0.553   2.518 / 0.437   5.437 / 0.883   3.521 / 0.726
//   rounded to bfloat16               1.777 / 0.562   2.521 / 0.441   5.450 / 0.889   3.553 / 0.739
// A sum per lane (of the rates 0.35, 0.5, 0.7 and 1 the one with the best log loss) wins 1 or 2 percent of it on three
// sets and loses as much on the fourth, but its second row per feature and block takes a third of the speed (1.6 M of
// novels, 24 bits, one core: 575,000 examples a second for 890,000, and 5.105 / 0.867 for 5.129 / 0.865). Half
// precision costs next to nothing in accuracy; what it would buy are blocks of five levels: one row in five on a path
// of twenty nodes, none on one of sixteen, for twice the lanes to compute. Its speed was not tried.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cpt/options.h"
#include "model/tree/partition.h"

namespace cpt {

inline constexpr std::size_t kLanes = 16;
using Row = std::array<float, kLanes>;

// The rows of one partition: a contiguous part of the table.
struct Region {
  std::uint64_t first = 0;
  std::uint64_t rows = 0;
};

// 2^bits rows, all zero at first, 64-byte aligned, on huge pages where the system has them. Memory is taken when a
// row is first written. Not thread-safe.
class WeightTable {
 public:
  // bits in [kLeastBits, kMostBits]. Throws Error(kFailed) if the address space is not to be had.
  explicit WeightTable(int bits);

  int bits() const { return bits_; }
  std::uint64_t rows() const { return std::uint64_t{1} << bits_; }
  std::uint64_t bytes() const { return rows() * sizeof(Row); }

  float* row(std::uint64_t index) { return base_.get() + index * kLanes; }
  const float* row(std::uint64_t index) const { return base_.get() + index * kLanes; }
  // The inverse of row().
  std::uint64_t index_of(const float* row) const { return static_cast<std::uint64_t>(row - base_.get()) / kLanes; }
  const Region& region(Partition partition) const { return regions_[partition]; }

  // The row of a feature in a block: `key` is the block's (odd), `region` its partition's. The product is a
  // multiply-shift hash that differs from block to block; its high half scales it to the region. find_rows() does the
  // same, many at a time.
  static std::uint64_t index(std::uint64_t feature, std::uint64_t key, const Region& region) {
    __extension__ using Wide = unsigned __int128;
    return region.first + static_cast<std::uint64_t>((static_cast<Wide>(feature * key) * region.rows) >> 64);
  }

  // Whether a row was ever trained: its lane 0 is above 0, or NaN, which must not pass for a row of zeros.
  bool used(std::uint64_t index) const { return !(row(index)[0] <= 0); }
  std::uint64_t count_used() const { return survey().used; }
  std::uint64_t digest() const { return survey().digest; }
  // All of that in one pass.
  struct Survey {
    std::uint64_t used = 0;
    std::uint64_t digest = 0;  // of every used row and its index: the sum of theirs
    bool finite = true;        // no weight of a used row is NaN or infinite

    void add(const Survey& other);
  };
  // Of the whole table: the sum over its partitions, so the ranks that own them can add up theirs.
  Survey survey() const;
  Survey survey(Partition partition) const;
  // The part of one row in the digest.
  static std::uint64_t digest_of(const float* row, std::uint64_t index);

  // All rows of the partition are zero again, and what memory they had is the system's, except for the pages that they
  // share with other partitions.
  void clear(Partition partition);

 private:
  struct Unmap {
    std::size_t bytes = 0;
    void operator()(float* base) const;
  };

  int bits_;
  std::array<Region, kPartitions> regions_;
  std::unique_ptr<float, Unmap> base_;
};

// How 2^bits rows are divided: a function of bits alone.
std::array<Region, kPartitions> divide_table(int bits);

}  // namespace cpt
