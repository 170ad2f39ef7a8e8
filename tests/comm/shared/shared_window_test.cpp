// Who shares memory with whom.
#include "comm/shared/shared_window.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "comm/alone.h"
#include "comm/on_machines.h"
#include "comm/threads/threads.h"

namespace cpt::testing {
namespace {

TEST(SharedWindow, IsSharedByRanksOfOneMachineOnly) {
  for (const int machines : {1, 2, 3, 5}) {
    run_threads(5, [&](Communicator& threads) {
      OnMachines comm(threads, machines);
      const SharedWindow space(comm, 100);
      for (int other = 0; other < comm.size(); ++other) {
        const bool together = other % machines == comm.rank() % machines;
        EXPECT_EQ(space.of(other).size(), together ? 100U : 0U);
        EXPECT_EQ(space.read_by(other), together);
      }
    });
  }
}

TEST(SharedWindow, OfARankAloneIsItsOwn) {
  Alone alone;
  const SharedWindow space(alone, 1000);
  EXPECT_TRUE(space.read_by(0));
  EXPECT_EQ(space.of(0).data(), space.mine().data());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(space.mine().data()) % 64, 0U);
  std::ranges::fill(space.mine(), std::byte{1});
}

// More than a file can have: where there is less, the system would look for it.
TEST(SharedWindow, ThatFindsNoMemoryIsEmptyEverywhere) {
  run_threads(3, [](Communicator& comm) {
    const SharedWindow space(comm, std::size_t{1} << 63);
    EXPECT_TRUE(space.mine().empty());
    space.publish();
    for (int rank = 0; rank < comm.size(); ++rank) {
      EXPECT_TRUE(space.of(rank).empty());
      EXPECT_FALSE(space.read_by(rank));
    }
  });
}

// Ranks go in any order, and whoever stays reads on.
TEST(SharedWindow, StaysAsLongAsSomebodyReadsIt) {
  run_threads(3, [](Communicator& comm) {
    auto space = std::make_unique<SharedWindow>(comm, 64);
    std::ranges::fill(space->mine(), static_cast<std::byte>(1 + comm.rank()));
    space->publish();
    comm.wait(*comm.start_all_gather({}, {}), "all have written");
    if (comm.rank() != 1) space.reset();
    std::byte mine{};
    std::vector<std::byte> all(3);
    comm.wait(*comm.start_all_gather({&mine, 1}, all), "others have gone");
    if (!space) return;
    for (int rank = 0; rank < comm.size(); ++rank) {
      EXPECT_EQ(std::ranges::count(space->of(rank), static_cast<std::byte>(1 + rank)), 64);
    }
  });
}

}  // namespace
}  // namespace cpt::testing
