#include "train/host/cores.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "comm/on_machines.h"
#include "comm/threads/threads.h"
#include "train/on_cores.h"

namespace cpt {
namespace {

TEST(RanksPerCore, IsOneForARankAlone) {
  run_threads(1, [](Communicator& comm) { EXPECT_EQ(ranks_per_core(comm), 1); });
}

TEST(RanksPerCore, CountsWhoMayRunWhereOthersMay) {
  const auto cores = static_cast<int>(allowed_cores().size());
  run_threads(2 * cores + 1, [](Communicator& comm) { EXPECT_EQ(ranks_per_core(comm), 3); });
}

TEST(RanksPerCore, CountsBoundRanksByTheCoresThatTheyHaveTogether) {
  const std::vector<std::size_t> cores = allowed_cores();
  run_threads(4, [&](Communicator& comm) {
    bind_to({cores.front()});
    EXPECT_EQ(ranks_per_core(comm), 4);
  });
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  run_threads(4, [&](Communicator& comm) {
    bind_to({cores[static_cast<std::size_t>(comm.rank() % 2)]});
    EXPECT_EQ(ranks_per_core(comm), 2);
  });
}

// Masks of several cores that overlap: it is the ranks of the machine for all its cores, not those of the fullest one.
TEST(RanksPerCore, IsAMeanOfTheMachine) {
  const std::vector<std::size_t> cores = allowed_cores();
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  run_threads(5, [&](Communicator& comm) {
    bind_to(comm.rank() == 0 ? std::vector{cores[0], cores[1]} : std::vector{cores[0]});
    EXPECT_EQ(ranks_per_core(comm), 3);
  });
}

TEST(RanksPerCore, IsThatOfTheFullestMachine) {
  const std::vector<std::size_t> cores = allowed_cores();
  run_threads(5, [&](Communicator& threads) {
    OnMachines comm(threads, 2);
    bind_to({cores.front()});
    EXPECT_EQ(ranks_per_core(comm), 3);
  });
}

}  // namespace
}  // namespace cpt
