#include "cpt/hashing.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cpt {
namespace {

// Of names that may be long. Apart, as it keeps many registers that short names do not need.
[[gnu::noinline]] std::uint64_t hash_long(std::string_view name, std::uint64_t seed) {
  return XXH3_64bits_withSeed(name.data(), name.size(), seed);
}

std::uint64_t hash(std::string_view name, std::uint64_t seed) {
  return name.size() <= 16 ? XXH3_64bits_withSeed(name.data(), name.size(), seed) : hash_long(name, seed);
}

}  // namespace

std::uint64_t FeatureHasher::name_space(std::string_view name) const {
  return hash(name, mix(seed_));
}

FeatureHash FeatureHasher::feature(std::uint64_t name_space, std::string_view name) const {
  return hash(name, name_space);
}

FeatureHash FeatureHasher::cross(FeatureHash first, FeatureHash second) { return mix(first + mix(second)); }

std::uint64_t hash_label(std::string_view label) { return hash(label, 0); }

}  // namespace cpt
