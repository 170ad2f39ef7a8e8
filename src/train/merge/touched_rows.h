// The rows that a rank has changed since the last merge, with their content before.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "model/weights/weight_table.h"

namespace cpt {

// Costs two bits per row of the table and kBytesOfRow per touched row, in chunks that never move and are kept for the
// next sync interval. Not thread-safe.
class TouchedRows {
 public:
  // With its index, and its place in the order by index.
  static constexpr std::uint64_t kBytesOfRow = sizeof(Row) + 16;

  explicit TouchedRows(const WeightTable& weights);

  // To be called before the rows change. Keeps the content of rows that have not been touched yet.
  void touch(const std::vector<float*>& rows);
  // The rows touched since clear().
  std::uint64_t size() const { return size_; }
  // The number of row updates since clear(): the rows of all calls of touch().
  std::uint64_t updates() const { return updates_; }
  bool contains(std::uint64_t index) const { return (touched_[index / 64] >> (index % 64) & 1) != 0; }

  // Forgets the rows whose content is what it was; calls visit(index, before) for the others, in any order that is the
  // same in every run. Until the next touch() or clear(), the functions below may be called.
  template <class Visit>
  void keep_changed(Visit visit);
  // The content of a row that is contained, and a hint that it is to be read soon.
  const Row& before(std::uint64_t index) const { return row_before(order_[position(index)]); }
  void prefetch_before(std::uint64_t index) const { __builtin_prefetch(&before(index)); }
  // Calls visit(index) for the rows in [begin, end) by ascending index. Both are multiples of 64.
  template <class Visit>
  void each(std::uint64_t begin, std::uint64_t end, Visit visit) const;

  void clear();

 private:
  static constexpr std::uint64_t kInChunk = 1024;
  struct alignas(64) Chunk {
    Row before[kInChunk];
    std::uint64_t index[kInChunk];
  };

  void add(std::uint64_t index, const float* row);
  void put_in_order();
  std::uint64_t& index_at(std::uint64_t place) { return chunks_[place / kInChunk]->index[place % kInChunk]; }
  Row& row_before(std::uint64_t place) { return chunks_[place / kInChunk]->before[place % kInChunk]; }
  const Row& row_before(std::uint64_t place) const { return chunks_[place / kInChunk]->before[place % kInChunk]; }
  // How many rows with a lower index are contained.
  std::uint64_t position(std::uint64_t index) const {
    const std::uint64_t lower = (std::uint64_t{1} << (index % 64)) - 1;
    return count_before_[index / 64] + static_cast<std::uint64_t>(std::popcount(touched_[index / 64] & lower));
  }

  const WeightTable* weights_;
  std::vector<std::uint64_t> touched_;       // a bit per row
  std::vector<std::uint64_t> count_before_;  // by word of touched_: the number of bits set in the words before
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::uint64_t size_ = 0;            // of the places in chunks_ that are used, in the order of touches
  std::vector<std::uint64_t> order_;  // by position: the place in chunks_
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
    add(index, row);
  }
}

inline void TouchedRows::add(std::uint64_t index, const float* row) {
  const std::uint64_t place = size_++;
  if (place / kInChunk == chunks_.size()) chunks_.push_back(std::make_unique<Chunk>());
  index_at(place) = index;
  std::memcpy(row_before(place).data(), row, sizeof(Row));
}

// The rows of the table lie anywhere, so those of later places are prefetched.
template <class Visit>
void TouchedRows::keep_changed(Visit visit) {
  constexpr std::uint64_t kAhead = 16;
  std::uint64_t kept = 0;
  for (std::uint64_t place = 0; place < size_; ++place) {
    if (place + kAhead < size_) __builtin_prefetch(weights_->row(index_at(place + kAhead)));
    const std::uint64_t index = index_at(place);
    const Row& before = row_before(place);
    if (std::memcmp(before.data(), weights_->row(index), sizeof(Row)) == 0) {
      touched_[index / 64] &= ~(std::uint64_t{1} << (index % 64));
      continue;
    }
    visit(index, before);
    if (kept < place) {
      index_at(kept) = index;
      row_before(kept) = before;
    }
    ++kept;
  }
  size_ = kept;
  put_in_order();
}

// The bits say where in the order every row belongs.
inline void TouchedRows::put_in_order() {
  count_before_.resize(touched_.size());
  std::uint64_t count = 0;
  for (std::size_t word = 0; word < touched_.size(); ++word) {
    count_before_[word] = count;
    count += static_cast<std::uint64_t>(std::popcount(touched_[word]));
  }
  order_.resize(size_);
  for (std::uint64_t place = 0; place < size_; ++place) order_[position(index_at(place))] = place;
}

template <class Visit>
void TouchedRows::each(std::uint64_t begin, std::uint64_t end, Visit visit) const {
  const std::uint64_t last = std::min<std::uint64_t>(end / 64, touched_.size());
  for (std::uint64_t word = begin / 64; word < last; ++word) {
    for (std::uint64_t bits = touched_[word]; bits != 0; bits &= bits - 1) {
      visit(word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits)));
    }
  }
}

inline void TouchedRows::clear() {
  for (std::uint64_t place = 0; place < size_; ++place) touched_[index_at(place) / 64] = 0;
  size_ = 0;
  updates_ = 0;
}

}  // namespace cpt
