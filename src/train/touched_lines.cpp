#include "train/touched_lines.h"

#include <bit>
#include <cstring>
#include <utility>

namespace cpt {

TouchedLines::TouchedLines(const WeightTable& weights) : weights_(&weights), touched_((weights.lines() + 63) / 64) {}

void TouchedLines::touch(const std::vector<float*>& lines) {
  updates_ += lines.size();
  for (const float* line : lines) {
    const std::uint64_t index = weights_->index_of(line);
    const std::uint64_t bit = std::uint64_t{1} << (index % 64);
    std::uint64_t& word = touched_[index / 64];
    if ((word & bit) != 0) continue;
    word |= bit;
    sorted_ = false;
    Entry& entry = entries_.emplace_back();
    entry.index = index;
    std::memcpy(entry.before.data(), line, sizeof(Line));
  }
}

// The bits tell where every entry belongs: each swap brings one there for good.
const TouchedLines::Entries& TouchedLines::sorted() {
  if (sorted_) return entries_;
  count_before();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    for (std::size_t to = position(entries_[i].index); to != i; to = position(entries_[i].index)) {
      std::swap(entries_[i], entries_[to]);
    }
  }
  sorted_ = true;
  return entries_;
}

void TouchedLines::count_before() {
  before_.resize(touched_.size());
  std::uint64_t count = 0;
  for (std::size_t word = 0; word < touched_.size(); ++word) {
    before_[word] = count;
    count += static_cast<std::uint64_t>(std::popcount(touched_[word]));
  }
}

std::size_t TouchedLines::position(std::uint64_t index) const {
  if (index / 64 >= touched_.size() || entries_.empty()) return entries_.size();
  const std::uint64_t lower = (std::uint64_t{1} << (index % 64)) - 1;
  return before_[index / 64] + static_cast<std::size_t>(std::popcount(touched_[index / 64] & lower));
}

void TouchedLines::clear() {
  for (const Entry& entry : entries_) touched_[entry.index / 64] = 0;
  entries_.clear();
  sorted_ = true;
  updates_ = 0;
}

}  // namespace cpt
