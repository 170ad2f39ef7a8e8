// A stretch of the bytes of a file.
#pragma once

#include <cstdint>

namespace cpt {

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = ~std::uint64_t{0};  // behind its last byte; by default wherever the file ends

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

}  // namespace cpt
