// Hashes of names. Those of names are XXH3 (64 bits) and differ with the seed of the run, except hash_label; those of
// crosses are made of two others.
#pragma once

#include <cstdint>
#include <string_view>

#include "cpt/example.h"

namespace cpt {

// Names to feature hashes. Equal (seed, namespace, name) give equal hashes on every machine.
class FeatureHasher {
 public:
  explicit FeatureHasher(std::uint64_t seed) : seed_(seed) {}

  // The hash that stands for a namespace; an empty name is the namespace of formats that have none.
  std::uint64_t name_space(std::string_view name) const;
  // A feature by its name. Integers are names like any other.
  FeatureHash feature(std::uint64_t name_space, std::string_view name) const;
  // The cross of two features; order matters.
  static FeatureHash cross(FeatureHash first, FeatureHash second);

 private:
  std::uint64_t seed_;
};

std::uint64_t hash_label(std::string_view label);

// A bijection of 64-bit numbers in which every input bit reaches every output bit (the finalizer of SplitMix64).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace cpt
