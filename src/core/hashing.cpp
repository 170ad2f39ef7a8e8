#include "cpt/hashing.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cpt {

std::uint64_t FeatureHasher::name_space(std::string_view name) const {
  return XXH3_64bits_withSeed(name.data(), name.size(), mix(seed_));
}

FeatureHash FeatureHasher::feature(std::uint64_t name_space, std::string_view name) const {
  return XXH3_64bits_withSeed(name.data(), name.size(), name_space);
}

FeatureHash FeatureHasher::cross(FeatureHash first, FeatureHash second) { return mix(first + mix(second)); }

std::uint64_t hash_label(std::string_view label) { return XXH3_64bits(label.data(), label.size()); }

}  // namespace cpt
