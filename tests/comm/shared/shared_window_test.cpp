// Who shares memory with whom.
#include "comm/shared/shared_window.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "comm/alone.h"
#include "comm/collectives.h"
#include "comm/on_machines.h"
#include "comm/threads/threads.h"

namespace cpt::testing {
namespace {

TEST(SharedWindow, IsSharedByRanksOfOneMachineOnly) {
  for (const int machines : {1, 2, 3, 5}) {
    run_threads(5, [&](Communicator& threads) {
      OnMachines comm(threads, machines);
      const SharedWindow window(comm, 100);
      for (int other = 0; other < comm.size(); ++other) {
        const bool together = other % machines == comm.rank() % machines;
        EXPECT_EQ(window.of(other).size(), together ? 100U : 0U);
        EXPECT_EQ(window.read_by(other), together);
      }
    });
  }
}

TEST(SharedWindow, OfARankAloneIsItsOwn) {
  Alone alone;
  const SharedWindow window(alone, 1000);
  EXPECT_TRUE(window.read_by(0));
  EXPECT_EQ(window.of(0).data(), window.mine().data());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(window.mine().data()) % 64, 0U);
  std::ranges::fill(window.mine(), std::byte{1});
}

TEST(SharedWindow, IsEmptyWhereTheMachineHasNoMemoryToShare) {
  run_threads(3, [](Communicator& threads) {
    OnMachines comm(threads, 0);
    const SharedWindow window(comm, 100);
    EXPECT_TRUE(window.mine().empty());
    window.publish();
    for (int rank = 0; rank < comm.size(); ++rank) {
      EXPECT_TRUE(window.of(rank).empty());
      EXPECT_FALSE(window.read_by(rank));
    }
  });
}

// The memory belongs to the ranks' group: a rank reads on when others have destroyed their windows.
TEST(SharedWindow, OutlivesTheWindowsOfOthers) {
  run_threads(3, [](Communicator& comm) {
    auto window = std::make_unique<SharedWindow>(comm, 64);
    std::ranges::fill(window->mine(), static_cast<std::byte>(1 + comm.rank()));
    window->publish();
    all_gather_value(comm, 0, "all have written");
    if (comm.rank() != 1) window.reset();
    all_gather_value(comm, 0, "others have gone");
    if (!window) return;
    for (int rank = 0; rank < comm.size(); ++rank) {
      EXPECT_EQ(std::ranges::count(window->of(rank), static_cast<std::byte>(1 + rank)), 64);
    }
  });
}

}  // namespace
}  // namespace cpt::testing
