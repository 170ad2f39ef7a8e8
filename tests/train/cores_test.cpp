#include "train/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cstddef>
#include <vector>

#include "comm/on_machines.h"
#include "comm/threads.h"

namespace cpt {
namespace {

std::vector<std::size_t> allowed_cores() {
  cpu_set_t allowed;
  EXPECT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::vector<std::size_t> cores;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

// Of this thread.
void bind_to(std::size_t core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

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
    bind_to(cores.front());
    EXPECT_EQ(ranks_per_core(comm), 4);
  });
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  run_threads(4, [&](Communicator& comm) {
    bind_to(cores[static_cast<std::size_t>(comm.rank() % 2)]);
    EXPECT_EQ(ranks_per_core(comm), 2);
  });
}

TEST(RanksPerCore, IsThatOfTheFullestMachine) {
  const std::vector<std::size_t> cores = allowed_cores();
  run_threads(5, [&](Communicator& threads) {
    OnMachines comm(threads, 2);
    bind_to(cores.front());
    EXPECT_EQ(ranks_per_core(comm), 3);
  });
}

}  // namespace
}  // namespace cpt
