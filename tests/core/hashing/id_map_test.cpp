// Keys get numbers in the order in which they come first, however many there are.
#include "core/hashing/id_map.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>

namespace cpt {
namespace {

TEST(IdMap, IsByFirstOccurrence) {
  std::mt19937_64 random(1);
  IdMap<std::uint64_t> numbering;
  std::map<std::uint64_t, std::uint32_t> expected;
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t key = random() % 20'000 << 40;  // alike in their low bits
    const auto next = static_cast<std::uint32_t>(expected.size());
    const auto [known, is_new] = expected.emplace(key, next);
    ASSERT_EQ(numbering.find(key), is_new ? numbering.kNone : known->second);
    ASSERT_EQ(numbering.add(key), known->second);
  }
  ASSERT_EQ(numbering.size(), expected.size());
  for (const auto& [key, number] : expected) ASSERT_EQ(numbering.keys()[number], key);
}

TEST(IdMap, BeginsAnewOnceItIsCleared) {
  IdMap<std::uint64_t> numbering;
  for (std::uint64_t key = 0; key < 1000; ++key) numbering.add(key);
  numbering.clear();
  EXPECT_EQ(numbering.size(), 0U);
  EXPECT_EQ(numbering.find(7), numbering.kNone);
  EXPECT_EQ(numbering.add(7), 0U);
}

}  // namespace
}  // namespace cpt
