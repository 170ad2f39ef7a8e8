// The weights of all node regressors: one hashed array of 64-byte lines.
//
// A line holds all weights of one (feature, block): lane 0 is the sum of squared gradients, lanes 1 .. 15 the weights
// of the slots. No keys are stored; features that fall on one line share it (the hashing trick).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "cpt/options.h"
#include "model/partition.h"

namespace cpt {

inline constexpr std::size_t kLanes = 16;
using Line = std::array<float, kLanes>;

// The lines of one partition: a contiguous part of the table.
struct Region {
  std::uint64_t first = 0;
  std::uint64_t lines = 0;
};

// 2^bits lines, all zero at first, 64-byte aligned, on huge pages where the system has them. Memory is taken when a
// line is first written. Not thread-safe.
class WeightTable {
 public:
  // bits in [kLeastBits, kMostBits]. Throws Error(kFailed) if the address space is not to be had.
  explicit WeightTable(int bits);

  int bits() const { return bits_; }
  std::uint64_t lines() const { return std::uint64_t{1} << bits_; }
  std::uint64_t bytes() const { return lines() * sizeof(Line); }

  float* line(std::uint64_t index) { return base_.get() + index * kLanes; }
  const float* line(std::uint64_t index) const { return base_.get() + index * kLanes; }
  // The inverse of line().
  std::uint64_t index_of(const float* line) const { return static_cast<std::uint64_t>(line - base_.get()) / kLanes; }
  const Region& region(Partition partition) const { return regions_[partition]; }

  // The line of a feature in a block: `key` is the block's (odd), `region` its partition's. The product is a
  // multiply-shift hash that differs from block to block; its high half scales it to the region.
  static std::uint64_t index(std::uint64_t feature, std::uint64_t key, const Region& region) {
    __extension__ using Wide = unsigned __int128;
    return region.first + static_cast<std::uint64_t>((static_cast<Wide>(feature * key) * region.lines) >> 64);
  }

  // Whether a line was ever trained: its lane 0 is above 0.
  bool used(std::uint64_t index) const { return line(index)[0] > 0; }
  std::uint64_t count_used() const { return survey().used; }
  std::uint64_t digest() const { return survey().digest; }
  // All of that in one pass.
  struct Survey {
    std::uint64_t used = 0;
    std::uint64_t digest = 0;  // of every used line and its index: the sum of theirs
    bool finite = true;        // no weight of a used line is NaN or infinite

    void add(const Survey& other);
  };
  // Of the whole table: the sum over its partitions, so the ranks that own them can add up theirs.
  Survey survey() const;
  Survey survey(Partition partition) const;
  // The part of one line in the digest.
  static std::uint64_t digest_of(const float* line, std::uint64_t index);

  // All lines of the partition are zero again, and what memory they had is the system's, except for the pages that they
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

// How 2^bits lines are divided: a function of bits alone.
std::array<Region, kPartitions> divide_table(int bits);

}  // namespace cpt
