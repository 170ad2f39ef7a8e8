// Bytes in memory as a source.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "data/source/byte_source.h"

namespace cpt {

// The bytes must outlive it.
class InMemory : public ByteSource {
 public:
  // `piece`: the most that one read returns, as a pipe may.
  explicit InMemory(std::span<const char> bytes, std::size_t piece = ~std::size_t{0}) : left_(bytes), piece_(piece) {}

  std::size_t read(std::span<char> space) override {
    const std::size_t count = std::min({space.size(), left_.size(), piece_});
    std::copy_n(left_.begin(), count, space.begin());
    left_ = left_.subspan(count);
    return count;
  }

 private:
  std::span<const char> left_;
  std::size_t piece_;
};

}  // namespace cpt
