#include "train/touched_lines.h"

#include <algorithm>
#include <cstring>

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

const TouchedLines::Entries& TouchedLines::sorted() {
  if (!sorted_) {
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.index < b.index; });
    sorted_ = true;
  }
  return entries_;
}

void TouchedLines::clear() {
  for (const Entry& entry : entries_) touched_[entry.index / 64] = 0;
  entries_.clear();
  sorted_ = true;
  updates_ = 0;
}

}  // namespace cpt
