// The rows that a rank has changed since the last merge, with their content before.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <vector>

#include "model/weights/weight_table.h"

namespace cpt {

// Costs two bits per row of the table and kBytesOfRow per touched row, in chunks that never move. Not thread-safe.
class TouchedRows {
 public:
  // Includes its share of a chunk and of the index of chunks.
  static constexpr std::uint64_t kBytesOfRow = 80;

  struct Entry {
    std::uint64_t index = 0;
    Row before{};
  };

  explicit TouchedRows(const WeightTable& weights);

  // To be called before the rows change. Keeps the content of rows that have not been touched yet.
  void touch(const std::vector<float*>& rows);
  // Whether a row was touched since clear().
  bool contains(std::uint64_t index) const { return (touched_[index / 64] >> (index % 64) & 1) != 0; }
  // The number of row updates since clear(): the rows of all calls of touch().
  std::uint64_t updates() const { return updates_; }

  using Entries = std::deque<Entry>;  // a growing vector needs twice the memory and more
  // By ascending index. Valid until the next touch() or clear().
  const Entries& sorted();
  // The position of the row among sorted(), which must have been called; of the next row if it was not touched.
  std::size_t position(std::uint64_t index) const;
  void clear();

 private:
  void count_before();

  const WeightTable* weights_;
  std::vector<std::uint64_t> touched_;  // a bit per row
  std::vector<std::uint64_t> before_;   // by word of touched_: the number of bits set in the words before
  Entries entries_;
  bool sorted_ = true;
  std::uint64_t updates_ = 0;
};

inline TouchedRows::TouchedRows(const WeightTable& weights)
    : weights_(&weights), touched_((weights.rows() + 63) / 64) {}

inline void TouchedRows::touch(const std::vector<float*>& rows) {
  updates_ += rows.size();
  for (const float* row : rows) {
    const std::uint64_t index = weights_->index_of(row);
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    std::uint64_t& word = touched_[index / 64];
    if ((word & bit) != 0) continue;
    word |= bit;
    sorted_ = false;
    Entry& entry = entries_.emplace_back();
    entry.index = index;
    std::memcpy(entry.before.data(), row, sizeof(Row));
  }
}

// The bits say where every entry belongs, but swapping each one there takes twice as long: entries are large, and a
// sort keeps them in the caches for a while.
inline const TouchedRows::Entries& TouchedRows::sorted() {
  if (sorted_) return entries_;
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.index < b.index; });
  count_before();
  sorted_ = true;
  return entries_;
}

inline void TouchedRows::count_before() {
  before_.resize(touched_.size());
  std::uint64_t count = 0;
  for (std::size_t word = 0; word < touched_.size(); ++word) {
    before_[word] = count;
    count += static_cast<std::uint64_t>(std::popcount(touched_[word]));
  }
}

inline std::size_t TouchedRows::position(std::uint64_t index) const {
  if (index / 64 >= touched_.size() || entries_.empty()) return entries_.size();
  const std::uint64_t lower = (std::uint64_t{1} << (index % 64)) - 1;
  return before_[index / 64] + static_cast<std::size_t>(std::popcount(touched_[index / 64] & lower));
}

inline void TouchedRows::clear() {
  for (const Entry& entry : entries_) touched_[entry.index / 64] = 0;
  entries_.clear();
  sorted_ = true;
  updates_ = 0;
}

}  // namespace cpt
