// Where renewals are placed among the lines of many shards.
#include "train/progress/renewals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cpt {
namespace {

using Positions = std::vector<ShardPosition>;

TEST(PlaceAfter, CountsLinesInTurns) {
  const Positions begin = {{0, 0}, {0, 1}, {0, 2}};
  EXPECT_EQ(place_after({0, 0}, 1, begin), (StreamPlace{0, 1}));
  EXPECT_EQ(place_after({0, 0}, 3, begin), (StreamPlace{1, 0}));
  EXPECT_EQ(place_after({0, 0}, 100, begin), (StreamPlace{33, 1}));
  EXPECT_EQ(place_after({33, 1}, 4, {{34, 0}, {33, 1}, {33, 2}}), (StreamPlace{34, 2}));
}

TEST(PlaceAfter, LeavesOutShardsThatHaveEnded) {
  EXPECT_EQ(place_after({7, 0}, 2, {{7, 0}, {3, 1}, {7, 2}}), (StreamPlace{8, 0}));
  EXPECT_EQ(place_after({7, 2}, 1, {{8, 0}, {7, 1}, {7, 2}}), (StreamPlace{8, 0}));
  EXPECT_EQ(place_after({7, 0}, 1, {{3, 0}, {6, 1}}), Renewals::kNever);
}

// Stops of shards of any lengths: none goes too far, and the last is after exactly `target` lines.
TEST(PlaceAfter, ComesToTheLineAtLastHoweverShardsEnd) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> lengths(1 + random() % 6);
    std::uint64_t all = 0;
    for (std::uint64_t& length : lengths) all += length = random() % 30;
    const std::uint64_t target = 1 + random() % 100;
    StreamPlace place;
    std::uint64_t lines = 0;
    int stops = 0;
    while (lines < target && place != Renewals::kNever) {
      ASSERT_LT(++stops, 200);
      Positions positions;
      lines = 0;
      for (std::uint32_t shard = 0; shard < lengths.size(); ++shard) {
        const std::uint64_t read = place.position + (shard < place.shard ? 1 : 0);
        positions.push_back({std::min(read, lengths[shard]), shard});
        lines += positions.back().position;
      }
      ASSERT_LE(lines, target);
      if (lines == target) break;
      const StreamPlace next = place_after(place, target - lines, positions);
      ASSERT_TRUE(place < next);
      place = next;
    }
    EXPECT_EQ(lines, std::min(target, all));
  }
}

}  // namespace
}  // namespace cpt
