// The rows that a rank has touched since the last merge.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/weights/weight_table.h"

namespace cpt {

// Training only sets a bit for each row; the rows themselves stay in the table, which is borrowed. Costs a bit per row
// of the table. Not thread-safe.
class TouchedRows {
 public:
  // `sums_lane_0`: whether touch() also computes lane_0_before().
  TouchedRows(const WeightTable& weights, bool sums_lane_0)
      : weights_(&weights), sums_lane_0_(sums_lane_0), touched_((weights.rows() + 63) / 64) {}

  // To be called before the rows change.
  void touch(const std::vector<float*>& rows);
  // The rows touched since clear().
  std::uint64_t size() const { return size_; }
  // The number of row updates since clear(): the rows of all calls of touch().
  std::uint64_t updates() const { return updates_; }
  // The sum of what lane 0 of each touched row was before its first touch, in the order of these touches.
  double lane_0_before() const { return lane_0_before_; }
  bool contains(std::uint64_t index) const { return (touched_[index / 64] >> (index % 64) & 1) != 0; }
  // Appends the touched rows in [begin, end), by ascending index. Both are multiples of 64; what lies beyond the table
  // is ignored.
  void append_to(std::vector<std::uint64_t>& indices, std::uint64_t begin, std::uint64_t end) const;
  // Forgets which rows were touched.
  void clear();

 private:
  const WeightTable* weights_;
  bool sums_lane_0_;
  std::vector<std::uint64_t> touched_;  // a bit per row
  std::uint64_t size_ = 0;
  std::uint64_t updates_ = 0;
  double lane_0_before_ = 0;
};

inline void TouchedRows::touch(const std::vector<float*>& rows) {
  updates_ += rows.size();
  for (const float* row : rows) {
    const std::uint64_t index = weights_->index_of(row);
    std::uint64_t& word = touched_[index / 64];
    const std::uint64_t bit = word >> (index % 64) & 1;
    size_ += 1 - bit;
    word |= std::uint64_t{1} << (index % 64);
    // Whether the bit was set is unpredictable, so nothing may branch on it.
    if (sums_lane_0_) lane_0_before_ += bit == 0 ? static_cast<double>(row[0]) : 0;
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
  lane_0_before_ = 0;
}

}  // namespace cpt
