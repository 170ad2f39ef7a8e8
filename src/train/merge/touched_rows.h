// The rows that a rank has touched since the last merge, with their content before.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/zeroed_memory.h"
#include "model/weights/weight_table.h"

namespace cpt {

// Keeps the table as the last merge left it. So training only sets a bit per row, and a merge finds what a row was by
// its index. Costs a bit per row of the table, and kBytesOfRow per row that was ever merged. Not thread-safe.
class TouchedRows {
 public:
  static constexpr std::uint64_t kBytesOfRow = sizeof(Row);

  // Copies these regions, whose rows must not change before they are touched: only they may be touched. Borrows the
  // table.
  TouchedRows(const WeightTable& weights, const std::vector<Region>& regions);

  // To be called before the rows change.
  void touch(const std::vector<float*>& rows);
  // The rows touched since clear().
  std::uint64_t size() const { return size_; }
  // The number of row updates since clear(): the rows of all calls of touch().
  std::uint64_t updates() const { return updates_; }
  bool contains(std::uint64_t index) const { return (touched_[index / 64] >> (index % 64) & 1) != 0; }
  // Appends the touched rows in [begin, end), by ascending index. Both are multiples of 64; what lies beyond the table
  // is ignored.
  void append_to(std::vector<std::uint64_t>& indices, std::uint64_t begin, std::uint64_t end) const;

  // The content of any row at the last merge, a hint that it is needed soon, and whether the table has another now.
  const Row& before(std::uint64_t index) const { return before_[index]; }
  void prefetch_before(std::uint64_t index) const { __builtin_prefetch(&before_[index], 1); }
  bool changed(std::uint64_t index) const {
    // Bits are compared: what a merge sends must leave the bytes of this rank on all others.
    return std::memcmp(  // NOLINT(bugprone-suspicious-memory-comparison)
               before_[index].data(), weights_->row(index), sizeof(Row)) != 0;
  }
  // To be called with what a merge makes of a row.
  void set_before(std::uint64_t index, const Row& row) { before_[index] = row; }
  // Forgets which rows were touched.
  void clear();

 private:
  const WeightTable* weights_;
  std::vector<std::uint64_t> touched_;  // a bit per row
  ZeroedArray<Row> before_;             // by index
  std::uint64_t size_ = 0;
  std::uint64_t updates_ = 0;
};

inline TouchedRows::TouchedRows(const WeightTable& weights, const std::vector<Region>& regions)
    : weights_(&weights),
      touched_((weights.rows() + 63) / 64),
      before_(make_zeroed<Row>(weights.rows(), "the rows before a merge")) {
  for (const Region& region : regions) {
    for (std::uint64_t index = region.first; index < region.first + region.rows; ++index) {
      // Writing zeros would take memory for rows that nothing uses.
      if (changed(index)) std::memcpy(before_[index].data(), weights.row(index), sizeof(Row));
    }
  }
}

inline void TouchedRows::touch(const std::vector<float*>& rows) {
  updates_ += rows.size();
  for (const float* row : rows) {
    const std::uint64_t index = weights_->index_of(row);
    std::uint64_t& word = touched_[index / 64];
    const std::uint64_t bit = word >> (index % 64) & 1;
    size_ += 1 - bit;
    word |= std::uint64_t{1} << (index % 64);
  }
}

inline void TouchedRows::append_to(std::vector<std::uint64_t>& indices, std::uint64_t begin, std::uint64_t end) const {
  const std::uint64_t last = std::min<std::uint64_t>(end / 64, touched_.size());
  for (std::uint64_t word = begin / 64; word < last; ++word) {
    for (std::uint64_t bits = touched_[word]; bits != 0; bits &= bits - 1) {
      indices.push_back(word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits)));
    }
  }
}

inline void TouchedRows::clear() {
  touched_.assign(touched_.size(), 0);
  size_ = 0;
  updates_ = 0;
}

}  // namespace cpt
