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
  explicit InMemory(std::span<const char> bytes) : left_(bytes) {}

  std::size_t read(std::span<char> space) override {
    const std::size_t count = std::min(space.size(), left_.size());
    std::copy_n(left_.begin(), count, space.begin());
    left_ = left_.subspan(count);
    return count;
  }

 private:
  std::span<const char> left_;
};

}  // namespace cpt
