// Equal counts cost what they took.
#include <gtest/gtest.h>

#include <algorithm>

#include "train/placement/balancer.h"

namespace cpt {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr int kRanks = 3;

// The root is rank 0's, partition r and what is below it rank r's, and so on in turn.
Owners in_turn() {
  Owners owners;
  for (Partition p = 0; p < kPartitions; ++p) {
    const Partition subtree = p <= kLevel1Partitions ? p : partition_above(p);
    owners[p] = static_cast<int>(subtree) % kRanks;
  }
  return owners;
}

// Every partition of level 1 has so many rows, and each below it a tenth. The root has as many as level 1.
constexpr std::uint64_t kLevel1Rows = 100'000;
std::vector<RankLoads> counted(const std::vector<std::uint64_t>& busy, std::uint64_t rows = kLevel1Rows) {
  const Owners owners = in_turn();
  std::vector<RankLoads> all(kRanks);
  for (Partition p = 0; p < kPartitions; ++p) {
    all[static_cast<std::size_t>(owners[p])].of[p] = p == kRootPartition      ? rows * kLevel1Partitions
                                                     : p <= kLevel1Partitions ? rows
                                                                              : rows / 10;
  }
  for (std::size_t rank = 0; rank < kRanks; ++rank) all[rank].busy = busy[rank];
  return all;
}

Loads plain(std::uint64_t rows = kLevel1Rows) {
  Loads sum{};
  for (const RankLoads& one : counted({0, 0, 0}, rows)) {
    std::transform(sum.begin(), sum.end(), one.of.begin(), sum.begin(), std::plus());
  }
  return sum;
}

// How much of the time of all that is due to a rank by these loads.
double share(const Loads& loads, std::size_t rank) {
  const std::vector<std::uint64_t> work = work_by_rank(in_turn(), loads, kRanks);
  return static_cast<double>(work[rank]) / static_cast<double>(work[0] + work[1] + work[2]);
}

TEST(TimedLoads, GoByCountsWhereLittleWasDone) {
  constexpr std::uint64_t kFew = 10'000;
  EXPECT_EQ(timed_loads(in_turn(), counted({kSecond, 2 * kSecond, 3 * kSecond}, kFew)), plain(kFew));
  EXPECT_NE(timed_loads(in_turn(), counted({kSecond, 2 * kSecond, 3 * kSecond})), plain());
}

TEST(TimedLoads, GoByCountsWhereNoTimeIsKnown) { EXPECT_EQ(timed_loads(in_turn(), counted({0, 0, 0})), plain()); }

TEST(TimedLoads, ShareTheTimeThatWasTaken) {
  const Loads loads = timed_loads(in_turn(), counted({3 * kSecond, kSecond, 2 * kSecond}));
  EXPECT_NEAR(share(loads, 0), 3. / 6, 1e-3);
  EXPECT_NEAR(share(loads, 1), 1. / 6, 1e-3);
  EXPECT_NEAR(share(loads, 2), 2. / 6, 1e-3);
}

// Partitions of one rank keep their proportions; those of the root's rank are taken to be like the others'.
TEST(TimedLoads, ScaleThePartitionsOfARankAlike) {
  const Loads loads = timed_loads(in_turn(), counted({3 * kSecond, kSecond, 2 * kSecond}));
  const Owners owners = in_turn();
  for (Partition p = 1; p < kPartitions; ++p) {
    const double of_one = owners[p] == 0 ? kLevel1Rows : static_cast<double>(loads[static_cast<Partition>(owners[p])]);
    EXPECT_NEAR(static_cast<double>(loads[p]), of_one / (p <= kLevel1Partitions ? 1 : 10), 1) << p;
  }
  // Rank 1 has six subtrees and rank 2 five.
  EXPECT_NEAR(static_cast<double>(loads[2]) / static_cast<double>(loads[1]), 2. * 6 / 5, 0.01);
}

// Its rows are worth less than the others', the root's a quarter of that.
TEST(TimedLoads, KnowAFastRankOfTheRoot) {
  for (const std::uint64_t busy : {kSecond / 10, kSecond / 2}) {
    const Loads loads = timed_loads(in_turn(), counted({busy, kSecond, kSecond}));
    const double expected = static_cast<double>(busy) / static_cast<double>(busy + 2 * kSecond);
    EXPECT_NEAR(share(loads, 0), expected, 5e-3);
    EXPECT_LT(loads[kRootPartition], plain()[kRootPartition] / 4);
    EXPECT_LT(loads[3], plain()[3]);
  }
}

TEST(TimedLoads, OfNothingAreNothing) {
  for (const std::uint64_t busy : {std::uint64_t{0}, kSecond}) {
    const std::vector<RankLoads> idle(kRanks, RankLoads{{}, busy});
    EXPECT_EQ(timed_loads(in_turn(), idle), Loads{});
  }
}

// Nothing is known of the others' rows then.
TEST(TimedLoads, GoByCountsWhereTheRootsRankDoesAll) {
  Owners owners{};
  std::vector<RankLoads> all(kRanks);
  all[0] = {plain(), kSecond};
  EXPECT_EQ(timed_loads(owners, all), plain());
  EXPECT_EQ(timed_loads(owners, {all[0]}), plain());
}

// By counts rank 0 has most to do; by time rank 2 is 25 % above the mean.
TEST(TimedLoads, MakeASlowRankGive) {
  const Owners owners = in_turn();
  const std::vector<RankLoads> slow = counted({9 * kSecond, 5 * kSecond, 10 * kSecond});
  const Owners after = balanced(owners, timed_loads(owners, slow), kRanks);
  EXPECT_LT(std::count(after.begin(), after.end(), 2), std::count(owners.begin(), owners.end(), 2));
  EXPECT_EQ(after[kRootPartition], 0);
}

}  // namespace
}  // namespace cpt
