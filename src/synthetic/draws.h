// Counter-based random numbers: equal (seed, purpose, index) give the same numbers on every machine, in any order of
// calls. So nothing that is drawn needs to be kept: it can be drawn again.
#pragma once

#include <cstdint>

#include "cpt/hashing.h"

namespace cpt {

// Purposes of the numbers of a synthetic log: what the index counts.
inline constexpr std::uint64_t kEventPurpose = 1;
inline constexpr std::uint64_t kPagePurpose = 2;
inline constexpr std::uint64_t kWordsPurpose = 3;
inline constexpr std::uint64_t kPlacePurpose = 4;
inline constexpr std::uint64_t kTopicPurpose = 5;

// The numbers of one index: SplitMix64 with a start of its own.
class Draws {
 public:
  // `purpose` keeps the numbers of different kinds with the same index apart.
  constexpr Draws(std::uint64_t seed, std::uint64_t purpose, std::uint64_t index)
      : state_(mix(mix(seed + purpose * kStep) + index)) {}

  // Uniform over all 64-bit numbers.
  constexpr std::uint64_t next() { return mix(state_ += kStep); }
  // Uniform in [0, 1), a multiple of 2^-53.
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  // Uniform in [0, count), count >= 1; off by less than count / 2^64.
  constexpr std::uint64_t below(std::uint64_t count) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{next()} * count) >> 64);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;

  std::uint64_t state_;
};

// In [1, 2^octaves), about in proportion to 1 / n (Zipf's law with exponent 1): each octave [2^k, 2^(k+1)) has the same
// probability, and so has each number in it. octaves in [1, 63].
constexpr std::uint64_t draw_zipf(Draws& draws, std::uint64_t octaves) {
  const std::uint64_t first = std::uint64_t{1} << draws.below(octaves);
  return first + draws.below(first);
}

}  // namespace cpt
