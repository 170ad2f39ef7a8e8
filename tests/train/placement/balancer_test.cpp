// When partitions move: at once where a rank has much too much to do, and where it has a little too much when the
// others have waited for it as long as the move takes.
#include "train/placement/balancer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "comm/threads/threads.h"

namespace cpt {
namespace {

constexpr int kMostIntervals = 1000;

// On average, but for one partition of level 1, of rank 1: so that it has so many percent more to do than the mean.
Loads uneven_loads(std::uint64_t percent, const Owners& owners = first_owners(2, 1)) {
  Loads loads(kPartitions);
  for (Partition p = 0; p < kPartitions; ++p)
    loads[p] = p == kRootPartition ? 51200 : p <= kLevel1Partitions ? 3200 : 500;
  const auto one = static_cast<Partition>(std::find(owners.begin() + 1, owners.end(), 1) - owners.begin());
  const auto excess = [&] {
    const std::vector<std::uint64_t> work = work_by_rank(owners, loads, 2);
    return work[1] * 2 * 100 / (work[0] + work[1]);
  };
  while (excess() < 100 + percent) loads[one] += 100;
  return loads;
}

// How many sync intervals of such loads pass until partitions are to move; kMostIntervals where they are not.
int wait_for_moves(const Loads& loads, Balancer& balancer, const WeightTable& weights, int rank,
                   std::uint64_t rounds = 100) {
  IntervalLoads mine{.rounds = rounds, .of = Loads(kPartitions)};
  for (Partition p = 0; p < kPartitions; ++p) {
    if (balancer.owners()[p] == rank) mine.of[p] = loads[p];
  }
  for (int sync_points = 1; sync_points < kMostIntervals; ++sync_points) {
    balancer.end_interval(mine);
    if (balancer.decide(weights)) return sync_points;
  }
  return kMostIntervals;
}

// From the start.
struct Job {
  int bits = kLeastBits;
  int ranks = 2;
  std::uint64_t rounds_of_interval = 100;
};
int intervals_until_moved(const Loads& loads, const Job& job) {
  int sync_points = 0;
  run_threads(job.ranks, [&](Communicator& comm) {
    const WeightTable weights(job.bits);
    Balancer balancer(comm, 1);
    const int waited = wait_for_moves(loads, balancer, weights, comm.rank(), job.rounds_of_interval);
    if (comm.rank() == 0) sync_points = waited;
  });
  return sync_points;
}

TEST(Balancing, IsDoneAtOnceWhereItIsDue) {
  for (const int bits : {kLeastBits, 16}) EXPECT_EQ(intervals_until_moved(uneven_loads(25), {.bits = bits}), 1) << bits;
}

TEST(Balancing, EndsALittleUnevennessWhenThatPays) {
  const Loads loads = uneven_loads(12);
  const int soon = intervals_until_moved(loads, {});
  const int later = intervals_until_moved(loads, {.bits = 18});  // where partitions are larger
  EXPECT_GT(later, soon);
  EXPECT_LT(later, kMostIntervals);
  EXPECT_GT(later, intervals_until_moved(uneven_loads(18), {.bits = 18}));
}

// However small the partitions are.
TEST(Balancing, CountsWhatItTakesToComeToRest) {
  const Loads loads = uneven_loads(12);
  const int soon = intervals_until_moved(loads, {});
  const int later = intervals_until_moved(loads, {.rounds_of_interval = 1});
  EXPECT_GT(later, soon + 10);
  EXPECT_LT(later, kMostIntervals);
}

// Otherwise the next unevenness, however small, would be paid for by the one that has ended.
TEST(Balancing, BeginsAnewAfterAMove) {
  constexpr int kBits = 18;
  const int first = intervals_until_moved(uneven_loads(12), {.bits = kBits});
  run_threads(2, [&](Communicator& comm) {
    WeightTable weights(kBits);
    Balancer balancer(comm, 1);
    wait_for_moves(uneven_loads(12), balancer, weights, comm.rank());
    const Owners before = balancer.owners();
    balancer.move(weights);
    ASSERT_NE(balancer.owners(), before);
    const Loads again = uneven_loads(12, balancer.owners());
    EXPECT_GT(wait_for_moves(again, balancer, weights, comm.rank()), first / 2);
  });
  EXPECT_GT(first, 4);
}

// Rank 1 has more to do than rank 2, but both wait for the rank of the root.
TEST(Balancing, LeavesWhatChangesNothingForTheSlowest) {
  Loads loads(kPartitions);
  const Owners owners = first_owners(3, 1);
  loads[kRootPartition] = 100'000;
  for (Partition p = 1, given = 0; given < 2; ++p) {
    if (owners[p] != 1) continue;
    loads[p] = 38'000;
    ++given;
  }
  const auto of_rank_2 = static_cast<Partition>(std::find(owners.begin() + 1, owners.end(), 2) - owners.begin());
  loads[of_rank_2] = 20'000;
  ASSERT_NE(balanced(owners, loads, 3, kExcessLeft), owners);
  EXPECT_EQ(intervals_until_moved(loads, {.ranks = 3}), kMostIntervals);
}

TEST(Balancing, LeavesWhatIsEvenEnough) { EXPECT_EQ(intervals_until_moved(uneven_loads(4), {}), kMostIntervals); }

// --- timed_loads(): equal counts weigh what they took

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr int kRanks = 3;

// The root is rank 0's, partition r and what is below it rank r's, and so on in turn.
Owners in_turn() {
  Owners owners(kPartitions);
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
  std::vector<RankLoads> all(kRanks, {Loads(kPartitions), 0});
  for (Partition p = 0; p < kPartitions; ++p) {
    all[static_cast<std::size_t>(owners[p])].of[p] = p == kRootPartition      ? rows * kLevel1Partitions
                                                     : p <= kLevel1Partitions ? rows
                                                                              : rows / 10;
  }
  for (std::size_t rank = 0; rank < kRanks; ++rank) all[rank].busy = busy[rank];
  return all;
}

Loads plain(std::uint64_t rows = kLevel1Rows) {
  Loads sum(kPartitions);
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
    const std::vector<RankLoads> idle(kRanks, RankLoads{Loads(kPartitions), busy});
    EXPECT_EQ(timed_loads(in_turn(), idle), Loads(kPartitions));
  }
}

// Nothing is known of the others' rows then.
TEST(TimedLoads, GoByCountsWhereTheRootsRankDoesAll) {
  Owners owners(kPartitions);
  std::vector<RankLoads> all(kRanks, {Loads(kPartitions), 0});
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
