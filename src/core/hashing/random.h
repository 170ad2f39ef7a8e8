// The generator of all random numbers (SplitMix64). Equal seeds give the same numbers on every machine and with every
// standard library.
#pragma once

#include <cstdint>

#include "cpt/hashing.h"

namespace cpt {

// Turns a uniform 64-bit number into one in [0, 1), a multiple of 2^-53.
constexpr double to_unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

class Random {
 public:
  // The difference between consecutive states of a sequence.
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;

  constexpr explicit Random(std::uint64_t state) : state_(state) {}
  // A sequence that can be drawn again in any order of calls, and so need not be stored: number `index` of those with
  // this seed and purpose. Different purposes give unrelated numbers for the same index.
  constexpr Random(std::uint64_t seed, std::uint64_t purpose, std::uint64_t index)
      : state_(mix(mix(seed + purpose * kStep) + index)) {}

  // Uniform over all 64-bit numbers.
  constexpr std::uint64_t next() { return mix(state_ += kStep); }
  // Uniform in [0, 1).
  constexpr double unit() { return to_unit(next()); }
  // Uniform in [0, count), count >= 1; off by less than count / 2^64.
  constexpr std::uint64_t below(std::uint64_t count) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{next()} * count) >> 64);
  }

 private:
  std::uint64_t state_;
};

}  // namespace cpt
