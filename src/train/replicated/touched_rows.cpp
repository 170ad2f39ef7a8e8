#include "train/replicated/touched_rows.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace cpt {

TouchedRows::TouchedRows(const WeightTable& weights) : weights_(&weights), touched_((weights.rows() + 63) / 64) {}

void TouchedRows::touch(const std::vector<float*>& rows) {
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
const TouchedRows::Entries& TouchedRows::sorted() {
  if (sorted_) return entries_;
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.index < b.index; });
  count_before();
  sorted_ = true;
  return entries_;
}

void TouchedRows::count_before() {
  before_.resize(touched_.size());
  std::uint64_t count = 0;
  for (std::size_t word = 0; word < touched_.size(); ++word) {
    before_[word] = count;
    count += static_cast<std::uint64_t>(std::popcount(touched_[word]));
  }
}

std::size_t TouchedRows::position(std::uint64_t index) const {
  if (index / 64 >= touched_.size() || entries_.empty()) return entries_.size();
  const std::uint64_t lower = (std::uint64_t{1} << (index % 64)) - 1;
  return before_[index / 64] + static_cast<std::size_t>(std::popcount(touched_[index / 64] & lower));
}

void TouchedRows::clear() {
  for (const Entry& entry : entries_) touched_[entry.index / 64] = 0;
  entries_.clear();
  sorted_ = true;
  updates_ = 0;
}

}  // namespace cpt
