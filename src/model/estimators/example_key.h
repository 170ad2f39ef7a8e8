// What identical examples have in common.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "cpt/example.h"
#include "cpt/hashing.h"

namespace cpt {

// A hash of the features of x, which are sorted, and of their values; label and importance do not count. Distinct x
// have distinct keys but for collisions of 64 bits.
inline std::uint64_t example_key(const ExampleView& x) {
  std::uint64_t key = x.features.size();
  for (std::size_t f = 0; f < x.features.size(); ++f) {
    key = mix(mix(key + x.features[f]) + std::bit_cast<std::uint32_t>(x.values[f]));
  }
  return key;
}

}  // namespace cpt
