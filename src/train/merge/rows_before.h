// The rows as the last merge left them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/zeroed_memory.h"
#include "model/weights/weight_table.h"

namespace cpt {

// Which rank merges a row. Runs of rows are dealt out in turn, so that ranks have even shares of the table however
// unevenly its regions are filled. The runs are short, so that many turns make a segment of a merge.
class RowDealing {
 public:
  static constexpr std::uint64_t kRun = 64;

  explicit RowDealing(int ranks) : ranks_(static_cast<std::uint64_t>(ranks)) {}

  std::size_t rank_of(std::uint64_t index) const { return static_cast<std::size_t>(index / kRun % ranks_); }
  // The position of a row among those of its rank.
  std::uint64_t position(std::uint64_t index) const { return index / kRun / ranks_ * kRun + index % kRun; }
  // The rows of a turn, in which each rank has a run.
  std::uint64_t turn() const { return kRun * ranks_; }
  // At least the rows that a rank has of a table.
  std::uint64_t most(std::uint64_t rows) const { return (rows / turn() + 1) * kRun; }

 private:
  std::uint64_t ranks_;
};

// The rows that one rank merges, as the last merge left them. Takes memory for those that are not zero: at most a
// share of the table's. Not thread-safe.
class RowsBefore {
 public:
  // Copies the rank's rows of these regions. No others may be asked for.
  RowsBefore(const WeightTable& weights, const std::vector<Region>& regions, RowDealing dealing, std::size_t rank);

  // Of a row that the rank merges.
  Row& operator[](std::uint64_t index) { return rows_[dealing_.position(index)]; }
  void prefetch(std::uint64_t index) const { __builtin_prefetch(&rows_[dealing_.position(index)], 1); }

 private:
  RowDealing dealing_;
  ZeroedArray<Row> rows_;
};

// Compares bits, because a merge must leave the same bytes on all ranks.
inline bool same_bits(const Row& a, const Row& b) {
  return std::memcmp(a.data(), b.data(), sizeof(Row)) == 0;  // NOLINT(bugprone-suspicious-memory-comparison)
}

inline RowsBefore::RowsBefore(const WeightTable& weights, const std::vector<Region>& regions, RowDealing dealing,
                              std::size_t rank)
    : dealing_(dealing), rows_(make_zeroed<Row>(dealing.most(weights.rows()), "the rows before a merge")) {
  for (const Region& region : regions) {
    for (std::uint64_t index = region.first; index < region.first + region.rows; ++index) {
      if (dealing.rank_of(index) != rank) continue;
      Row row;
      std::memcpy(row.data(), weights.row(index), sizeof row);
      // Writing zeros would take memory for rows that nothing uses.
      if (!same_bits(row, Row{})) (*this)[index] = row;
    }
  }
}

}  // namespace cpt
