// Which rows a rank has changed since the last merge, and what they held before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "model/weights/weight_table.h"

namespace cpt {

// Costs two bits per row of the table and kBytesOfRow per touched row, in chunks that never move. Not thread-safe.
class TouchedRows {
 public:
  // With its part of a chunk of memory and of what finds that.
  static constexpr std::uint64_t kBytesOfRow = 80;

  struct Entry {
    std::uint64_t index = 0;
    Row before{};
  };

  explicit TouchedRows(const WeightTable& weights);

  // To be called before the rows change: keeps the content of those that have not been touched yet.
  void touch(const std::vector<float*>& rows);
  // Whether a row was touched since clear().
  bool contains(std::uint64_t index) const { return (touched_[index / 64] >> (index % 64) & 1) != 0; }
  // Calls of touch() times rows since clear(): how often rows were updated.
  std::uint64_t updates() const { return updates_; }

  using Entries = std::deque<Entry>;  // a vector that grows has twice as much and more
  // By ascending index. Valid until the next touch() or clear().
  const Entries& sorted();
  // Among those, after sorted(): that of the row, or where there is none, of the next one behind it.
  std::size_t position(std::uint64_t index) const;
  void clear();

 private:
  void count_before();

  const WeightTable* weights_;
  std::vector<std::uint64_t> touched_;  // a bit per row
  std::vector<std::uint64_t> before_;   // by word of touched_: how many bits are set in those before
  Entries entries_;
  bool sorted_ = true;
  std::uint64_t updates_ = 0;
};

}  // namespace cpt
