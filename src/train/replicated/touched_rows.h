// The rows that a rank has changed since the last merge, with their content before.
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
  // Including its share of a chunk and of the index of chunks.
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

}  // namespace cpt
