// Hashes of names. Namespace and feature hashes are 64-bit XXH3 and depend on the seed of the model; hash_label does
// not. All functions here are pure and may be called from any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "cpt/example.h"

namespace cpt {

// Hashes names of features. Equal seed, namespace and name give equal hashes on every machine. To predict with a model,
// construct it with the seed of that model's options.
class FeatureHasher {
 public:
  explicit FeatureHasher(std::uint64_t seed) : seed_(seed) {}

  // The hash of a namespace. The empty name stands for the namespace of formats without namespaces.
  std::uint64_t name_space(std::string_view name) const;
  // The hash of a feature. An integer is hashed as its decimal text: "42".
  FeatureHash feature(std::uint64_t name_space, std::string_view name) const;
  // The hash of the cross of two features. The order matters.
  static FeatureHash cross(FeatureHash first, FeatureHash second);

 private:
  std::uint64_t seed_;
};

// The hash of a label, the same for every seed.
std::uint64_t hash_label(std::string_view label);

// Mixes the bits of a 64-bit number: a bijection in which every input bit affects every output bit (the finalizer of
// SplitMix64).
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

}  // namespace cpt
