// When partitions move: at once where a rank has much too much to do, and where it has a little too much when the
// others have waited for it as long as the move takes.
#include "train/balancer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "comm/threads.h"

namespace cpt {
namespace {

constexpr int kMostEpochs = 1000;

// On average, but for one partition of level 1, of rank 1: so that it has so many percent more to do than the mean.
Loads uneven_loads(std::uint64_t percent) {
  constexpr int kRanks = 2;
  const Owners owners = first_owners(kRanks);
  Loads loads;
  for (Partition p = 0; p < kPartitions; ++p)
    loads[p] = p == kRootPartition ? 51200 : p <= kLevel1Partitions ? 3200 : 500;
  const auto one = static_cast<Partition>(std::find(owners.begin() + 1, owners.end(), 1) - owners.begin());
  const auto excess = [&] {
    const std::vector<std::uint64_t> work = work_by_rank(owners, loads, kRanks);
    return work[1] * 2 * 100 / (work[0] + work[1]);
  };
  while (excess() < 100 + percent) loads[one] += 100;
  return loads;
}

// How many epochs of such loads pass until partitions move; kMostEpochs where they do not.
int epochs_until_moved(const Loads& loads, int bits, int ranks = 2) {
  int epochs = 0;
  run_threads(ranks, [&](Communicator& comm) {
    const WeightTable weights(bits);
    Balancer balancer(comm);
    Loads mine{};
    for (Partition p = 0; p < kPartitions; ++p) {
      if (balancer.owners()[p] == comm.rank()) mine[p] = loads[p];
    }
    int waited = 0;
    for (bool moves = false; !moves && waited < kMostEpochs; ++waited) {
      balancer.end_epoch(mine);
      moves = balancer.decide(weights);
    }
    if (comm.rank() == 0) epochs = waited;
  });
  return epochs;
}

TEST(Balancing, IsDoneAtOnceWhereItIsDue) {
  for (const int bits : {kLeastBits, 16}) EXPECT_EQ(epochs_until_moved(uneven_loads(25), bits), 1) << bits;
}

TEST(Balancing, EndsALittleUnevennessWhenThatPays) {
  const Loads loads = uneven_loads(12);
  const int soon = epochs_until_moved(loads, kLeastBits);
  const int later = epochs_until_moved(loads, 16);  // where partitions are larger
  EXPECT_GT(later, soon);
  EXPECT_LT(later, kMostEpochs);
  EXPECT_GT(later, epochs_until_moved(uneven_loads(18), 16));
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
  EXPECT_EQ(epochs_until_moved(loads, kLeastBits, 3), kMostEpochs);
}

TEST(Balancing, LeavesWhatIsEvenEnough) { EXPECT_EQ(epochs_until_moved(uneven_loads(4), kLeastBits), kMostEpochs); }

}  // namespace
}  // namespace cpt
