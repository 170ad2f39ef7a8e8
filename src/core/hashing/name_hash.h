// The hash of a name, inline, for loops in which a call of FeatureHasher (cpt/hashing.h) would cost as much as hashing.
#pragma once

#include <cstdint>
#include <string_view>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cpt {

// XXH3. Not inline, because it uses many registers that short names do not need.
std::uint64_t hash_long_name(std::string_view name, std::uint64_t seed);

// FeatureHasher::feature(), if the seed is the hash of a namespace.
inline std::uint64_t hash_name(std::string_view name, std::uint64_t seed) {
  return name.size() <= 16 ? XXH3_64bits_withSeed(name.data(), name.size(), seed) : hash_long_name(name, seed);
}

}  // namespace cpt
