// Where in the order of all examples a number of lines ends.
#include "train/progress/renewals.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace cpt {
namespace {

using Positions = std::vector<ShardPosition>;

TEST(OffsetAfter, CountsLinesInTurns) {
  const Positions begin = {{0, 0}, {0, 1}, {0, 2}};
  EXPECT_EQ(offset_after({0, 0}, 1, begin), (StreamOffset{0, 1}));
  EXPECT_EQ(offset_after({0, 0}, 3, begin), (StreamOffset{1, 0}));
  EXPECT_EQ(offset_after({0, 0}, 100, begin), (StreamOffset{33, 1}));
  EXPECT_EQ(offset_after({33, 1}, 4, {{34, 0}, {33, 1}, {33, 2}}), (StreamOffset{34, 2}));
}

TEST(OffsetAfter, LeavesOutShardsThatHaveEnded) {
  EXPECT_EQ(offset_after({7, 0}, 2, {{7, 0}, {3, 1}, {7, 2}}), (StreamOffset{8, 0}));
  EXPECT_EQ(offset_after({7, 2}, 1, {{8, 0}, {7, 1}, {7, 2}}), (StreamOffset{8, 0}));
  EXPECT_EQ(offset_after({7, 0}, 1, {{3, 0}, {6, 1}}), Renewals::kNever);
}

// Stops of shards of any lengths: none goes too far, and the last is after exactly `target` lines.
TEST(OffsetAfter, ComesToTheLineAtLastHoweverShardsEnd) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> lengths(1 + random() % 6);
    std::uint64_t all = 0;
    for (std::uint64_t& length : lengths) all += length = random() % 30;
    const std::uint64_t target = 1 + random() % 100;
    StreamOffset offset;
    std::uint64_t lines = 0;
    int stops = 0;
    while (lines < target && offset != Renewals::kNever) {
      ASSERT_LT(++stops, 200);
      Positions positions;
      lines = 0;
      for (std::uint32_t shard = 0; shard < lengths.size(); ++shard) {
        const std::uint64_t read = offset.position + (shard < offset.shard ? 1 : 0);
        positions.push_back({std::min(read, lengths[shard]), shard});
        lines += positions.back().position;
      }
      ASSERT_LE(lines, target);
      if (lines == target) break;
      const StreamOffset next = offset_after(offset, target - lines, positions);
      ASSERT_TRUE(offset < next);
      offset = next;
    }
    EXPECT_EQ(lines, std::min(target, all));
  }
}

}  // namespace
}  // namespace cpt
