// Who owns what: even where it can be, together where it should be, and quiet where nothing is wrong.
#include "train/placement/ownership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "model/random_stream.h"
#include "train/placement/all_on.h"

namespace cpt {
namespace {

using RankWork = std::vector<std::uint64_t>;

constexpr Partition kFirstDeep = 1 + kLevel1Partitions;

Partition level1_above(Partition deep) { return static_cast<Partition>(1 + (deep - kFirstDeep) / 16); }

// In units of one visit to a block per example, times 512: the root 1, level 1 together 1, the deep ones together 2.5.
Loads average_loads() {
  Loads loads(kPartitions);
  for (Partition p = 0; p < kPartitions; ++p) loads[p] = p == kRootPartition ? 512 : p < kFirstDeep ? 32 : 5;
  return loads;
}

std::uint64_t sum(const RankWork& loads) { return std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}); }
std::uint64_t most(const RankWork& loads) { return *std::max_element(loads.begin(), loads.end()); }

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

void give_subtree(Owners& owners, Partition level1, int rank) {
  owners[level1] = rank;
  for (Partition p = kFirstDeep; p < kPartitions; ++p) {
    if (level1_above(p) == level1) owners[p] = rank;
  }
}

class Ownership : public ::testing::TestWithParam<int> {
 protected:
  int ranks() const { return GetParam(); }

  RankWork by_rank(const Owners& owners, const Loads& loads) const { return work_by_rank(owners, loads, ranks()); }

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

    const RankWork before = by_rank(now, loads);
    EXPECT_LE(most(by_rank(after, loads)), most(before));
    const auto n = static_cast<std::uint64_t>(ranks());
    if (most(before) * n * 100 <= sum(before) * 120) {
      EXPECT_EQ(after, now);
    }
    if (after != now) expect_no_move_helps(after, loads);
  }

  // A rank more than 5 % above the mean has nothing below the mean that would lower the larger load of itself and the
  // least loaded.
  void expect_no_move_helps(const Owners& owners, const Loads& loads) const {
    const RankWork all = by_rank(owners, loads);
    const auto least = std::min_element(all.begin(), all.end()) - all.begin();
    for (Partition p = 1; p < kPartitions; ++p) {
      const std::uint64_t of_owner = all[static_cast<std::size_t>(owners[p])];
      if (loads[p] == 0 || loads[p] * all.size() > sum(all)) continue;
      if (of_owner * all.size() * 100 <= sum(all) * 105) continue;
      Owners moved = owners;
      moved[p] = static_cast<int>(least);
      const RankWork then = by_rank(moved, loads);
      const std::uint64_t larger =
          std::max(then[static_cast<std::size_t>(owners[p])], then[static_cast<std::size_t>(least)]);
      EXPECT_GE(larger, of_owner) << "partition " << p << " of rank " << owners[p];
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, Ownership, ::testing::Values(1, 2, 3, 5, 8, 16, 64, 300));

constexpr std::uint64_t kRootWork = 512 * 13 / 8;

TEST_P(Ownership, StartsEven) {
  const Owners owners = first_owners(ranks(), 1);
  expect_sound(owners);
  const RankWork all = by_rank(owners, average_loads());
  // A visit to the root, one that begins at level 1 for all but rank 0's, and one that begins below where it is split.
  const std::uint64_t least_total = kRootWork + 512 + 1280;
  EXPECT_GE(sum(all), least_total);
  EXPECT_LE(sum(all), least_total + 512 / 2 + 256);
  // The root and, where the mean is below them, the partitions of level 1 cannot be halved.
  const std::uint64_t mean = sum(all) / static_cast<std::uint64_t>(ranks());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::uint64_t indivisible = rank == 0 ? kRootWork : 32 * 3 / 2;
    EXPECT_LE(all[rank], std::max(indivisible, mean * 110 / 100 + 1)) << "rank " << rank;
  }
}

TEST_P(Ownership, AStageEndsWhereTheOwnerChanges) {
  Dice dice(77);
  Owners owners(kPartitions);
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
  const Owners first = first_owners(ranks(), 1);
  EXPECT_EQ(balanced(first, Loads(kPartitions), ranks()), first);
  EXPECT_EQ(balanced(all_on(ranks() - 1), Loads(kPartitions), ranks()), all_on(ranks() - 1));
  EXPECT_FALSE(limited_by_root(first, Loads(kPartitions), ranks()));
}

TEST_P(Ownership, AsExpectedNothingMoves) {
  const Owners first = first_owners(ranks(), 1);
  const Owners after = balanced(first, average_loads(), ranks());
  EXPECT_EQ(after, first);
}

TEST_P(Ownership, RandomLoadsAreBalanced) {
  Dice dice(static_cast<std::uint64_t>(ranks()));
  for (int trial = 0; trial < 30; ++trial) {
    Loads loads(kPartitions);
    // Of one size, of many sizes, with hot ones; and ownerships good and bad.
    for (std::uint64_t& load : loads) {
      load = dice.below(1000);
      if (trial % 3 == 1) load = load * load * load;
      if (trial % 3 == 2 && dice.chance(0.02)) load *= 10000;
      if (dice.chance(0.1)) load = 0;
    }
    check_balance(first_owners(ranks(), 1), loads);
    check_balance(all_on(ranks() - 1), loads);
    Owners random = all_on(0);
    for (Partition p = 1; p < kPartitions; ++p)
      random[p] = static_cast<int>(dice.below(static_cast<std::size_t>(ranks())));
    check_balance(random, loads);
  }
}

// All that is learned falls into one subtree, whose owner would do all of it.
TEST_P(Ownership, ASubtreeThatGrowsIsDividedAmongAll) {
  Loads loads(kPartitions);
  loads[kRootPartition] = 100;
  loads[3] = 100;
  for (Partition p = kFirstDeep; p < kPartitions; ++p) {
    if (level1_above(p) == 3) loads[p] = 1000;
  }
  const Owners first = first_owners(ranks(), 1);
  check_balance(first, loads);
  const std::uint64_t most_now = most(by_rank(balanced(first, loads, ranks()), loads));
  const auto n = static_cast<std::uint64_t>(ranks());
  EXPECT_LE(most_now, (16 + n - 1) / n * 1250 + 300);  // with the tasks that begin there, and those above
}

TEST_P(Ownership, AHotPartitionIsLeftAloneWithItsRank) {
  Loads loads = average_loads();
  loads[40] = 1'000'000;
  const Owners first = first_owners(ranks(), 1);
  const Owners after = balanced(first, loads, ranks());
  check_balance(first, loads);
  if (ranks() == 1) return;
  EXPECT_EQ(after[40], first[40]);
  // All its rank may have beside it is the partition above, so that tasks pass both: else they begin there.
  const bool with_above = after[40] == after[level1_above(40)];
  const std::uint64_t beside = with_above ? 48 : 1'000'000 / 4;
  EXPECT_LE(by_rank(after, loads)[static_cast<std::size_t>(after[40])],
            1'000'000U + beside + (after[40] == 0 ? 768U : 0U));
}

// Big numbers: sums near 2^63 with many ranks.
TEST_P(Ownership, HugeLoadsAreBalanced) {
  Loads loads(kPartitions, std::uint64_t{1} << 54);
  const Owners after = balanced(all_on(0), loads, ranks());
  const RankWork all = by_rank(after, loads);
  const auto n = static_cast<std::uint64_t>(ranks());
  constexpr std::uint64_t kMostWork = 1 + kPartitions + kLevel1Partitions / 2 + kDeepPartitions / 4;
  EXPECT_LE(most(all) >> 54, std::max<std::uint64_t>(1, (kMostWork * 105 / 100 + n) / n));
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

TEST(FirstOwners, OfOneRankIsAllItsOwn) { EXPECT_EQ(first_owners(1, 1), all_on(0)); }

TEST(FirstOwners, KeepSubtreesTogetherOnFewRanks) {
  for (const int ranks : {1, 2, 3, 4, 5}) EXPECT_EQ(whole_subtrees(first_owners(ranks, 1)), 16U) << ranks;
  // Where a rank per subtree is even enough.
  for (const int ranks : {17, 18, 22}) EXPECT_EQ(whole_subtrees(first_owners(ranks, 1)), 16U) << ranks;
  EXPECT_EQ(whole_subtrees(first_owners(64, 1)), 0U);
}

// Twelve ranks beside the root's take a subtree each; two are 2 x 128 of a mean of 217, so the other four are split.
TEST(FirstOwners, SplitNoMoreSubtreesThanTheyMust) {
  EXPECT_EQ(whole_subtrees(first_owners(8, 1)), 16U);
  EXPECT_EQ(whole_subtrees(first_owners(13, 1)), 12U);
}

TEST(FirstOwners, LeaveRanksIdleThatNothingIsLeftFor) {
  const Owners owners = first_owners(300, 1);
  EXPECT_EQ(std::set<int>(owners.begin(), owners.end()).size(), std::size_t{kPartitions});
  EXPECT_EQ(*std::max_element(owners.begin(), owners.end()), int{kPartitions} - 1);
}

TEST(FirstOwners, OfSeveralTreesAreRanksOfTheirOwn) {
  for (const auto& [ranks, trees] : {std::pair(2, 2), std::pair(7, 3), std::pair(64, 2), std::pair(8, 8)}) {
    const Owners owners = first_owners(ranks, trees);
    ASSERT_EQ(owners.size(), std::size_t{kPartitions} * static_cast<std::size_t>(trees));
    std::set<int> others;  // the owners of the trees before
    for (std::size_t tree = 0; tree < static_cast<std::size_t>(trees); ++tree) {
      const auto begin = owners.begin() + root_partition(tree);
      const std::set<int> own(begin, begin + kPartitions);
      EXPECT_EQ(own.size(), static_cast<std::size_t>(*own.rbegin() - *own.begin() + 1));
      EXPECT_EQ(*begin, *own.begin());  // the root's
      for (const int rank : own) EXPECT_TRUE(others.insert(rank).second) << rank;
    }
    EXPECT_EQ(others.size(), static_cast<std::size_t>(ranks));
    EXPECT_EQ(owners[0], 0);
  }
  const Owners shared = first_owners(2, 3);  // more trees than ranks
  for (Partition p = 0; p < shared.size(); ++p) EXPECT_EQ(shared[p], static_cast<int>(tree_of(p) % 2));
}

// A root is a quarter of all work.
TEST(Readers, AreAllRanksUntilARootIsTheLimit) {
  using Ranks = std::set<int>;
  const auto idle = [](int ranks, int trees, Roots roots = Roots::kOwned) {
    const std::vector<bool> readers = readers_beside_roots(ranks, trees, roots);
    EXPECT_EQ(readers.size(), static_cast<std::size_t>(ranks));
    Ranks found;
    for (int rank = 0; rank < ranks; ++rank) {
      if (!readers[static_cast<std::size_t>(rank)]) found.insert(rank);
    }
    return found;
  };
  for (const int ranks : {1, 2, 3, 4}) EXPECT_EQ(idle(ranks, 1), Ranks()) << ranks;
  for (const int ranks : {5, 8, 16, 64, 300}) EXPECT_EQ(idle(ranks, 1), Ranks({0})) << ranks;
  EXPECT_EQ(idle(8, 2), Ranks());
  EXPECT_EQ(idle(16, 2), Ranks({0, 8}));
  EXPECT_EQ(idle(2, 8), Ranks()) << "more trees than ranks";
  for (const int ranks : {1, 16, 64}) EXPECT_EQ(idle(ranks, 1, Roots::kOnEveryRank), Ranks()) << ranks;
}

TEST(Balanced, LeavesTheRootsOfAllTreesWhereTheyAre) {
  const Owners first = first_owners(4, 2);
  Loads loads(first.size(), 10);
  for (Partition p = 0; p < kPartitions; ++p) loads[p] = 1000;  // the first tree has more to do
  const Owners after = balanced(first, loads, 4);
  EXPECT_NE(after, first);
  for (const std::size_t tree : {0U, 1U}) EXPECT_EQ(after[root_partition(tree)], first[root_partition(tree)]);
  const std::vector<std::uint64_t> before_work = work_by_rank(first, loads, 4);
  const std::vector<std::uint64_t> after_work = work_by_rank(after, loads, 4);
  EXPECT_LT(std::ranges::max(after_work), std::ranges::max(before_work) * 2 / 3);
}

// 2 ranks with 150 and 210 are 17 % from their mean; with 150 and 240, 23 %.
TEST(Balanced, MovesOnlyWhenDue) {
  Owners owners = all_on(1);
  Loads loads(kPartitions);
  loads[kRootPartition] = 93;
  for (Partition p = 1; p <= 14; ++p) loads[p] = 10;
  EXPECT_EQ(balanced(owners, loads, 2), owners);
  loads[15] = loads[16] = 10;
  Owners expected = owners;
  for (Partition p = 1; p <= 3; ++p) give_subtree(expected, p, 0);
  EXPECT_EQ(balanced(owners, loads, 2), expected);
}

// A rank 1.2 times the mean is not more than 20 % above it.
TEST(Balanced, CountsTheLimitItselfAsEven) {
  Loads loads(kPartitions);
  loads[kRootPartition] = 74;
  loads[1] = 100;
  loads[2] = 20;  // 120 and 180
  EXPECT_EQ(balanced(all_on(1), loads, 2), all_on(1));
  loads[2] = 21;
  EXPECT_NE(balanced(all_on(1), loads, 2), all_on(1));
}

TEST(Balanced, MovesFewSubtreesAndThemWhole) {
  Loads loads(kPartitions);
  loads[kFirstDeep] = 50;
  loads[kFirstDeep + 16] = 50;
  for (Partition p = 100; p < 200; ++p) loads[p] = 1;
  // 200 on rank 1, nothing elsewhere: the two heavy ones go first; then sixteens come from 100 within 5 % of 67.
  Owners expected = all_on(1);
  give_subtree(expected, 1, 0);
  give_subtree(expected, 2, 2);
  give_subtree(expected, 7, 0);
  give_subtree(expected, 8, 2);
  EXPECT_EQ(balanced(all_on(1), loads, 3), expected);
  EXPECT_EQ(most(work_by_rank(expected, loads, 3)), 68U);
}

// What goes alone costs tasks.
TEST(Balanced, SplitsASubtreeWhereThatPays) {
  Loads loads(kPartitions);
  loads[kRootPartition] = 93;
  loads[1] = 100;
  for (Partition exit = 0; exit < 16; ++exit) loads[kFirstDeep + exit] = 20;
  // 150 + 100 + 320 on rank 0; each that goes takes 20 from it and gives 25 to the other, so 13 of them even the two
  // best.
  const Owners after = balanced(all_on(0), loads, 2);
  EXPECT_EQ(after[1], 0);
  EXPECT_EQ(moves_between(after, all_on(0)), 13);
  EXPECT_EQ(work_by_rank(after, loads, 2), (RankWork{310, 325}));
}

TEST(Balanced, EvensMoreWhereLessIsDue) {
  Loads loads(kPartitions);
  loads[kRootPartition] = 93;
  for (Partition p = 1; p <= 14; ++p) loads[p] = 10;
  EXPECT_EQ(balanced(all_on(1), loads, 2, kExcessDue), all_on(1));  // 150 and 210
  const Owners after = balanced(all_on(1), loads, 2, kExcessLeft);
  EXPECT_EQ(work_by_rank(after, loads, 2), (RankWork{170, 180}));
}

TEST(Balanced, PassesOverTheRankOfTheRoot) {
  Loads loads(kPartitions);
  loads[kRootPartition] = 1000;
  loads[1] = loads[2] = 400;
  Owners expected = all_on(1);
  give_subtree(expected, 1, 2);
  EXPECT_EQ(balanced(all_on(1), loads, 3), expected);
}

TEST(Balanced, TakesAHotPartitionAwayFromTheRootOnly) {
  Loads loads(kPartitions);
  loads[kRootPartition] = 400;
  loads[kFirstDeep] = 1000;
  loads[kFirstDeep + 1] = 60;
  EXPECT_EQ(balanced(all_on(0), loads, 2)[kFirstDeep], 1);
  const Owners small_away = balanced(all_on(1), loads, 2);
  EXPECT_EQ(small_away[kFirstDeep], 1);
  EXPECT_EQ(small_away[kFirstDeep + 1], 0);
}

TEST(Balanced, SeparatesHotPartitions) {
  Loads loads(kPartitions);
  loads[kRootPartition] = 1000;
  loads[1] = 1000;
  loads[2] = 900;
  const Owners after = balanced(all_on(1), loads, 3);
  EXPECT_EQ((std::set<int>{after[1], after[2]}), (std::set<int>{1, 2}));
}

TEST(Balanced, LeavesAloneWhatOnlyTheRootUpsets) {
  Loads loads(kPartitions);
  loads[kRootPartition] = 1000;
  loads[1] = loads[2] = loads[3] = 100;
  Owners owners = all_on(1);
  owners[3] = 2;
  EXPECT_EQ(balanced(owners, loads, 3), owners);
}

// Rows, and what tasks cost that begin there: 71 more for the level-1 partitions of rank 2, 96 for deep ones of its
// below that of rank 0, 68 for rank 3's.
TEST(WorkByRank, AddsUpWhatARankOwns) {
  Loads loads(kPartitions);
  std::iota(loads.begin(), loads.end(), std::uint64_t{1});
  Owners owners = all_on(2);
  owners[1] = 0;
  owners[272] = 3;
  EXPECT_EQ(work_by_rank(owners, loads, 5), (RankWork{1 + 2, 0, 273U * 274 / 2 - 1 - 2 - 273 + 71 + 96, 273 + 68, 0}));
}

TEST(LimitedByRoot, WhereItsRankHasNothingElseAndMost) {
  Loads loads(kPartitions);
  loads[kRootPartition] = 121;
  loads[1] = 86;
  EXPECT_TRUE(limited_by_root(all_on(1), loads, 2));   // work of 196, where the mean is 162.5
  EXPECT_FALSE(limited_by_root(all_on(0), loads, 2));  // it could give partition 1
  loads[1] = 87;
  EXPECT_TRUE(limited_by_root(all_on(1), loads, 3));
  loads[1] = 88;  // 196 of 164 is less than 20 % above
  EXPECT_FALSE(limited_by_root(all_on(1), loads, 2));
  loads[1] = 132;  // not the most loaded
  EXPECT_FALSE(limited_by_root(all_on(1), loads, 3));
  EXPECT_FALSE(limited_by_root(all_on(0), loads, 1));
}

}  // namespace
}  // namespace cpt
