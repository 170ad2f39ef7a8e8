#include "cpt/hashing.h"

#include "core/hashing/name_hash.h"

namespace cpt {

std::uint64_t hash_long_name(std::string_view name, std::uint64_t seed) {
  return XXH3_64bits_withSeed(name.data(), name.size(), seed);
}

std::uint64_t FeatureHasher::name_space(std::string_view name) const { return hash_name(name, mix(seed_)); }

FeatureHash FeatureHasher::feature(std::uint64_t name_space, std::string_view name) const {
  return hash_name(name, name_space);
}

FeatureHash FeatureHasher::cross(FeatureHash first, FeatureHash second) { return mix(first + mix(second)); }

std::uint64_t hash_label(std::string_view label) { return hash_name(label, 0); }

}  // namespace cpt
