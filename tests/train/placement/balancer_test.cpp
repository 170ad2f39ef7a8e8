// When partitions move: at once where a rank has much too much to do, and where it has a little too much when the
// others have waited for it as long as the move takes.
#include "train/placement/balancer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "comm/threads/threads.h"

namespace cpt {
namespace {

constexpr int kMostIntervals = 1000;

// On average, but for one partition of level 1, of rank 1: so that it has so many percent more to do than the mean.
Loads uneven_loads(std::uint64_t percent, const Owners& owners = first_owners(2)) {
  Loads loads;
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
  IntervalLoads mine{.rounds = rounds};
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
    Balancer balancer(comm);
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
    Balancer balancer(comm);
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
  Loads loads{};
  const Owners owners = first_owners(3);
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

}  // namespace
}  // namespace cpt
