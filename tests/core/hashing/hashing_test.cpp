#include "cpt/hashing.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

namespace cpt {
namespace {

FeatureHash hash(std::uint64_t seed, std::string_view name_space, std::string_view name) {
  const FeatureHasher hasher(seed);
  return hasher.feature(hasher.name_space(name_space), name);
}

// Models on disk hold weights at places that these hashes name, so they may never change.
TEST(Hashing, IsTheSameForEver) {
  EXPECT_EQ(mix(0), 0U);
  EXPECT_EQ(mix(1), 0x5692161d100b05e5ULL);          // the finalizer of SplitMix64
  EXPECT_EQ(hash_label(""), 0x2d06800538d394c2ULL);  // XXH3 of nothing, as published with xxHash
}

TEST(Hashing, DependsOnSeedNamespaceAndName) {
  std::set<FeatureHash> hashes;
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    for (const char* name_space : {"", "a", "b", "ab"}) {
      for (const char* name : {"", "a", "b", "ab", "1", "01"}) hashes.insert(hash(seed, name_space, name));
    }
  }
  EXPECT_EQ(hashes.size(), 3U * 4U * 6U);
  EXPECT_EQ(hash(1, "a", "b"), hash(1, "a", "b"));
}

TEST(Hashing, NamesOfEveryLengthDiffer) {
  std::set<FeatureHash> hashes;
  for (std::size_t bytes = 0; bytes < 600; ++bytes) hashes.insert(hash(1, "n", std::string(bytes, 'x')));
  EXPECT_EQ(hashes.size(), 600U);
}

TEST(Hashing, CrossesAreOrderedAndDifferFromTheirParts) {
  const FeatureHash a = hash(1, "n", "a");
  const FeatureHash b = hash(1, "n", "b");
  EXPECT_EQ(
      (std::set<FeatureHash>{a, b, FeatureHasher::cross(a, b), FeatureHasher::cross(b, a), FeatureHasher::cross(a, a)}
           .size()),
      5U);
}

// One input bit changes about half of the output bits: 32 +- 6 standard deviations (of 4) for a single sample would be
// 8 .. 56; the mean over 64 is within 6 of 0.5.
TEST(Hashing, MixSpreadsEveryBit) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    int changed = 0;
    for (std::uint64_t x = 0; x < 64; ++x) changed += std::popcount(mix(x) ^ mix(x ^ (std::uint64_t{1} << bit)));
    EXPECT_NEAR(changed / 64.0, 32, 6 * 0.5) << bit;
  }
}

}  // namespace
}  // namespace cpt
