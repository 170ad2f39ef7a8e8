// Who owns what: even where it can be, together where it should be, and quiet where nothing is wrong.
#include "train/ownership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "model/random_stream.h"

namespace cpt {
namespace {

using RankLoads = std::vector<std::uint64_t>;

constexpr Partition kFirstDeep = 1 + kLevel1Partitions;

Partition level1_above(Partition deep) { return static_cast<Partition>(1 + (deep - kFirstDeep) / 16); }

// In units of one visit to a block per example, times 512: the root 1, level 1 together 1, the deep ones together 2.5.
Loads average_loads() {
  Loads loads;
  for (Partition p = 0; p < kPartitions; ++p) loads[p] = p == kRootPartition ? 512 : p < kFirstDeep ? 32 : 5;
  return loads;
}

std::uint64_t sum(const RankLoads& loads) { return std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}); }
std::uint64_t most(const RankLoads& loads) { return *std::max_element(loads.begin(), loads.end()); }

int moves_between(const Owners& a, const Owners& b) {
  int moves = 0;
  for (Partition p = 0; p < kPartitions; ++p) moves += a[p] != b[p] ? 1 : 0;
  return moves;
}

std::size_t whole_subtrees(const Owners& owners) {
  std::set<Partition> split;
  for (Partition p = kFirstDeep; p < kPartitions; ++p) {
    if (owners[p] != owners[level1_above(p)]) split.insert(level1_above(p));
  }
  return kLevel1Partitions - split.size();
}

// Everything on one rank except for the root.
Owners all_on(int rank) {
  Owners owners;
  owners.fill(rank);
  owners[kRootPartition] = 0;
  return owners;
}

class Ownership : public ::testing::TestWithParam<int> {
 protected:
  int ranks() const { return GetParam(); }

  RankLoads by_rank(const Owners& owners, const Loads& loads) const { return load_by_rank(owners, loads, ranks()); }

  void expect_sound(const Owners& owners) const {
    EXPECT_EQ(owners[kRootPartition], 0);
    EXPECT_TRUE(std::all_of(owners.begin(), owners.end(), [&](int owner) { return owner >= 0 && owner < ranks(); }));
  }

  // What holds of balanced() whatever the loads are.
  void check_balance(const Owners& now, const Loads& loads) const {
    const Owners after = balanced(now, loads, ranks());
    expect_sound(after);
    EXPECT_EQ(balanced(now, loads, ranks()), after);
    EXPECT_EQ(balanced(after, loads, ranks()), after);

    const RankLoads before_loads = by_rank(now, loads);
    const RankLoads after_loads = by_rank(after, loads);
    EXPECT_EQ(sum(after_loads), sum(before_loads));
    EXPECT_LE(most(after_loads), most(before_loads));
    const auto n = static_cast<std::uint64_t>(ranks());
    if (most(before_loads) * n * 100 <= sum(before_loads) * 120) {
      EXPECT_EQ(after, now);
    }
    if (after != now) expect_no_move_helps(after, loads);
  }

  // A rank more than 5 % above the mean has nothing below the mean that would lower the larger load of itself and the
  // least loaded.
  void expect_no_move_helps(const Owners& owners, const Loads& loads) const {
    const RankLoads all = by_rank(owners, loads);
    const std::uint64_t least = *std::min_element(all.begin(), all.end());
    for (Partition p = 1; p < kPartitions; ++p) {
      const std::uint64_t of_owner = all[static_cast<std::size_t>(owners[p])];
      if (loads[p] == 0 || loads[p] * all.size() > sum(all)) continue;
      if (of_owner * all.size() * 100 <= sum(all) * 105) continue;
      EXPECT_GE(least + loads[p], of_owner) << "partition " << p << " of rank " << owners[p];
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, Ownership, ::testing::Values(1, 2, 3, 5, 8, 16, 64, 300));

TEST_P(Ownership, StartsEven) {
  const Owners owners = first_owners(ranks());
  expect_sound(owners);
  const RankLoads all = by_rank(owners, average_loads());
  const std::uint64_t total = 512 + 512 + 1280;
  EXPECT_EQ(sum(all), total);
  // The root and, where the mean is below them, the partitions of level 1 cannot be halved.
  const std::uint64_t mean = total / static_cast<std::uint64_t>(ranks());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::uint64_t indivisible = rank == 0 ? 512 : 32;
    EXPECT_LE(all[rank], std::max(indivisible, mean * 110 / 100 + 1)) << "rank " << rank;
  }
}

TEST_P(Ownership, AStageEndsWhereTheOwnerChanges) {
  Dice dice(77);
  Owners owners;
  for (int& owner : owners) owner = static_cast<int>(dice.below(static_cast<std::size_t>(ranks())));
  const Stages stages = stages_by(owners);
  EXPECT_EQ(stages[kRootPartition], Stage::kRoot);
  for (Partition p = 1; p < kPartitions; ++p) {
    const Partition above = p < kFirstDeep ? kRootPartition : level1_above(p);
    const int hops = static_cast<int>(stages[p]) - static_cast<int>(stages[above]);
    EXPECT_EQ(hops, owners[p] == owners[above] ? 0 : 1) << "partition " << p;
  }
}

TEST_P(Ownership, WithoutLoadsNothingMoves) {
  const Owners first = first_owners(ranks());
  EXPECT_EQ(balanced(first, Loads{}, ranks()), first);
  EXPECT_EQ(balanced(all_on(ranks() - 1), Loads{}, ranks()), all_on(ranks() - 1));
  EXPECT_FALSE(limited_by_root(first, Loads{}, ranks()));
}

TEST_P(Ownership, AsExpectedNothingMoves) {
  const Owners first = first_owners(ranks());
  const Owners after = balanced(first, average_loads(), ranks());
  EXPECT_EQ(after, first);
}

TEST_P(Ownership, RandomLoadsAreBalanced) {
  Dice dice(static_cast<std::uint64_t>(ranks()));
  for (int trial = 0; trial < 30; ++trial) {
    Loads loads;
    // Of one size, of many sizes, with hot ones; and ownerships good and bad.
    for (std::uint64_t& load : loads) {
      load = dice.below(1000);
      if (trial % 3 == 1) load = load * load * load;
      if (trial % 3 == 2 && dice.chance(0.02)) load *= 10000;
      if (dice.chance(0.1)) load = 0;
    }
    check_balance(first_owners(ranks()), loads);
    check_balance(all_on(ranks() - 1), loads);
    Owners random = all_on(0);
    for (Partition p = 1; p < kPartitions; ++p)
      random[p] = static_cast<int>(dice.below(static_cast<std::size_t>(ranks())));
    check_balance(random, loads);
  }
}

// All that is learned falls into one subtree, whose owner would do all of it.
TEST_P(Ownership, ASubtreeThatGrowsIsDividedAmongAll) {
  Loads loads{};
  loads[kRootPartition] = 100;
  loads[3] = 100;
  for (Partition p = kFirstDeep; p < kPartitions; ++p) {
    if (level1_above(p) == 3) loads[p] = 1000;
  }
  const Owners first = first_owners(ranks());
  check_balance(first, loads);
  const std::uint64_t most_now = most(by_rank(balanced(first, loads, ranks()), loads));
  const auto n = static_cast<std::uint64_t>(ranks());
  EXPECT_LE(most_now, (16 + n - 1) / n * 1000 + 200);
}

TEST_P(Ownership, AHotPartitionIsLeftAloneWithItsRank) {
  Loads loads = average_loads();
  loads[40] = 1'000'000;
  const Owners first = first_owners(ranks());
  const Owners after = balanced(first, loads, ranks());
  check_balance(first, loads);
  if (ranks() == 1) return;
  EXPECT_EQ(after[40], first[40]);
  EXPECT_EQ(by_rank(after, loads)[static_cast<std::size_t>(after[40])], 1'000'000U + (after[40] == 0 ? 512U : 0U));
}

// Big numbers: sums near 2^63 with many ranks.
TEST_P(Ownership, HugeLoadsAreBalanced) {
  Loads loads;
  loads.fill(std::uint64_t{1} << 54);
  const Owners after = balanced(all_on(0), loads, ranks());
  const RankLoads all = by_rank(after, loads);
  const auto n = static_cast<std::uint64_t>(ranks());
  EXPECT_LE(most(all) >> 54, std::max<std::uint64_t>(1, (kPartitions * 105 / 100 + n) / n));
}

TEST(StagesBy, OneOwnerPassesAllInOne) {
  Owners owners = all_on(0);
  for (const Stage stage : stages_by(owners)) EXPECT_EQ(stage, Stage::kRoot);
  owners = all_on(1);
  EXPECT_EQ(stages_by(owners)[1], Stage::kLevel1);
  EXPECT_EQ(stages_by(owners)[kFirstDeep], Stage::kLevel1);
  owners[kFirstDeep] = 0;
  EXPECT_EQ(stages_by(owners)[kFirstDeep], Stage::kDeep);
}

TEST(FirstOwners, OfOneRankIsAllItsOwn) { EXPECT_EQ(first_owners(1), all_on(0)); }

TEST(FirstOwners, KeepSubtreesTogetherOnFewRanks) {
  for (const int ranks : {1, 2, 3, 4, 5}) EXPECT_EQ(whole_subtrees(first_owners(ranks)), 16U) << ranks;
  // Where a rank per subtree is even enough.
  for (const int ranks : {17, 18, 22}) EXPECT_EQ(whole_subtrees(first_owners(ranks)), 16U) << ranks;
  EXPECT_EQ(whole_subtrees(first_owners(64)), 0U);
}

// Seven ranks beside the root's take two subtrees each; a third one is 3 x 112 of a mean of 288, so two are split.
TEST(FirstOwners, SplitNoMoreSubtreesThanTheyMust) { EXPECT_EQ(whole_subtrees(first_owners(8)), 14U); }

TEST(FirstOwners, LeaveRanksIdleThatNothingIsLeftFor) {
  const Owners owners = first_owners(300);
  EXPECT_EQ(std::set<int>(owners.begin(), owners.end()).size(), std::size_t{kPartitions});
  EXPECT_EQ(*std::max_element(owners.begin(), owners.end()), int{kPartitions} - 1);
}

// 2 ranks with 100 and 140 are 17 % from their mean; with 100 and 160, 23 %.
TEST(Balanced, MovesOnlyWhenDue) {
  Owners owners = all_on(1);
  Loads loads{};
  loads[kRootPartition] = 100;
  for (Partition p = 1; p <= 14; ++p) loads[p] = 10;
  EXPECT_EQ(balanced(owners, loads, 2), owners);
  loads[15] = loads[16] = 10;
  Owners expected = owners;
  for (const std::size_t p : {1U, 2U, 3U}) expected[p] = 0;
  EXPECT_EQ(balanced(owners, loads, 2), expected);
}

// A rank 1.2 times the mean is not more than 20 % above it.
TEST(Balanced, CountsTheLimitItselfAsEven) {
  Loads loads{};
  loads[kRootPartition] = 80;
  loads[1] = 100;
  loads[2] = 20;
  EXPECT_EQ(balanced(all_on(1), loads, 2), all_on(1));
  loads[2] = 21;
  EXPECT_NE(balanced(all_on(1), loads, 2), all_on(1));
}

TEST(Balanced, MovesAsLittleAsItMust) {
  Loads loads{};
  loads[5] = 50;
  loads[6] = 50;
  for (Partition p = 100; p < 200; ++p) loads[p] = 1;
  // 200 on rank 1, nothing elsewhere: two halves of a hundred go first, then as many single ones as it takes to come
  // from 100 within 5 % of 67: to 70, so thirty.
  const Owners after = balanced(all_on(1), loads, 3);
  EXPECT_EQ(after[5], 0);
  EXPECT_EQ(after[6], 2);
  EXPECT_EQ(moves_between(after, all_on(1)), 32);
  EXPECT_EQ(most(load_by_rank(after, loads, 3)), 70U);
}

TEST(Balanced, PassesOverTheRankOfTheRoot) {
  Loads loads{};
  loads[kRootPartition] = 1000;
  loads[1] = loads[2] = 400;
  Owners expected = all_on(1);
  expected[1] = 2;
  EXPECT_EQ(balanced(all_on(1), loads, 3), expected);
}

TEST(Balanced, TakesAHotPartitionAwayFromTheRootOnly) {
  Loads loads{};
  loads[kRootPartition] = 50;
  loads[1] = 1000;
  loads[2] = 60;
  Owners hot_alone = all_on(0);
  hot_alone[1] = 1;
  EXPECT_EQ(balanced(all_on(0), loads, 2), hot_alone);
  Owners small_away = all_on(1);
  small_away[2] = 0;
  EXPECT_EQ(balanced(all_on(1), loads, 2), small_away);
}

TEST(Balanced, SeparatesHotPartitions) {
  Loads loads{};
  loads[kRootPartition] = 50;
  loads[1] = 1000;
  loads[2] = 900;
  Owners expected = all_on(1);
  expected[2] = 2;
  EXPECT_EQ(balanced(all_on(1), loads, 3), expected);
}

TEST(Balanced, LeavesAloneWhatOnlyTheRootUpsets) {
  Loads loads{};
  loads[kRootPartition] = 1000;
  loads[1] = loads[2] = loads[3] = 100;
  Owners owners = all_on(1);
  owners[3] = 2;
  EXPECT_EQ(balanced(owners, loads, 3), owners);
}

TEST(LoadByRank, AddsUpWhatARankOwns) {
  Loads loads;
  std::iota(loads.begin(), loads.end(), std::uint64_t{1});
  Owners owners = all_on(2);
  owners[1] = 0;
  owners[272] = 3;
  EXPECT_EQ(load_by_rank(owners, loads, 5), (RankLoads{1 + 2, 0, 273U * 274 / 2 - 1 - 2 - 273, 273, 0}));
}

TEST(LimitedByRoot, WhereItsRankHasNothingElseAndMost) {
  Loads loads{};
  loads[kRootPartition] = 121;
  loads[1] = 80;
  EXPECT_TRUE(limited_by_root(all_on(1), loads, 2));   // 121 of a mean of 100.5
  EXPECT_FALSE(limited_by_root(all_on(0), loads, 2));  // it could give partition 1
  loads[1] = 81;
  EXPECT_TRUE(limited_by_root(all_on(1), loads, 3));
  loads[1] = 82;  // 121 of 101.5 is less than 20 % above
  EXPECT_FALSE(limited_by_root(all_on(1), loads, 2));
  loads[1] = 122;  // not the most loaded
  EXPECT_FALSE(limited_by_root(all_on(1), loads, 3));
  EXPECT_FALSE(limited_by_root(all_on(0), loads, 1));
}

}  // namespace
}  // namespace cpt
