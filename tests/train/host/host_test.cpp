// Free memory is what the kernel and the control groups leave; cores are counted by machine and affinity mask.
#include "train/host/host.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "comm/collectives.h"
#include "comm/on_machines.h"
#include "comm/threads/threads.h"
#include "train/on_cores.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kGib = std::uint64_t{1} << 30;

// The files of a system, as far as they tell of memory.
class System {
 public:
  System() : root_(fs::temp_directory_path() / ("cpt_memory_test_" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
    write("proc/meminfo", "MemTotal:       16000000 kB\nMemFree: 1 kB\nMemAvailable:    8388608 kB\nBuffers: 5 kB\n");
  }
  ~System() { fs::remove_all(root_); }
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  std::optional<std::uint64_t> free() const { return free_memory(root_); }
  std::uint64_t peak() const { return peak_memory(root_); }

 private:
  fs::path root_;
};

TEST(FreeMemory, IsWhatTheKernelCallsAvailable) {
  const System system;
  EXPECT_EQ(system.free(), 8 * kGib);
  system.write("proc/self/cgroup", "0::/a/b\n");
  EXPECT_EQ(system.free(), 8 * kGib) << "groups without limits";
  system.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  EXPECT_EQ(system.free(), 8 * kGib);
}

TEST(FreeMemory, IsWhatTheTightestGroupAllows) {
  const System system;
  system.write("proc/self/cgroup", "0::/a/b\n");
  system.write("sys/fs/cgroup/a/b/memory.max", "4294967296\n");
  EXPECT_EQ(system.free(), 4 * kGib);
  system.write("sys/fs/cgroup/a/memory.max", "3221225472\n");
  EXPECT_EQ(system.free(), 3 * kGib);
  system.write("sys/fs/cgroup/memory.max", "2147483648\n");
  EXPECT_EQ(system.free(), 2 * kGib);
  system.write("proc/self/cgroup", "5:cpu:/\n4:memory:/job\n");
  EXPECT_EQ(system.free(), 8 * kGib);
  system.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1073741824\n");
  EXPECT_EQ(system.free(), kGib);
}

TEST(FreeMemory, EndsWhereTheKernelWouldSlowAGroupDown) {
  const System system;
  system.write("proc/self/cgroup", "0::/a/b\n");
  system.write("sys/fs/cgroup/a/b/memory.max", "max\n");
  system.write("sys/fs/cgroup/a/b/memory.high", "4294967296\n");
  EXPECT_EQ(system.free(), 4 * kGib);
  system.write("sys/fs/cgroup/a/memory.max", "6442450944\n");
  system.write("sys/fs/cgroup/a/memory.high", "3221225472\n");
  system.write("sys/fs/cgroup/a/memory.current", "1073741824\n");
  EXPECT_EQ(system.free(), 2 * kGib);
  system.write("sys/fs/cgroup/a/memory.high", "max\n");
  EXPECT_EQ(system.free(), 4 * kGib);
}

TEST(FreeMemory, IsWhatTheTightestGroupHasLeft) {
  const System system;
  system.write("proc/self/cgroup", "0::/a/b\n");
  system.write("sys/fs/cgroup/a/b/memory.max", "4294967296\n");
  system.write("sys/fs/cgroup/a/b/memory.current", "1073741824\n");
  EXPECT_EQ(system.free(), 3 * kGib);
  system.write("sys/fs/cgroup/a/b/memory.stat", "anon 1\ninactive_file 536870912\n");
  EXPECT_EQ(system.free(), 3 * kGib + kGib / 2) << "cached files make room";
  system.write("sys/fs/cgroup/a/memory.max", "3221225472\n");
  system.write("sys/fs/cgroup/a/memory.current", "2147483648\n");
  EXPECT_EQ(system.free(), kGib);
  system.write("sys/fs/cgroup/a/memory.current", "4294967296\n");
  EXPECT_EQ(system.free(), 0U);
  system.write("proc/self/cgroup", "4:memory:/job\n");
  system.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4294967296\n");
  system.write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3221225472\n");
  EXPECT_EQ(system.free(), kGib);
  system.write("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 1073741824\n");
  EXPECT_EQ(system.free(), 2 * kGib);
}

TEST(FreeMemory, IsUnknownWhereNothingTellsIt) {
  const System system;
  system.write("proc/meminfo", "MemTotal: 5 kB\n");
  EXPECT_EQ(system.free(), std::nullopt);
}

TEST(FreeMemory, OfThisMachineIsSomething) {
  const auto free = free_memory();
  ASSERT_TRUE(free.has_value());
  EXPECT_GT(*free, std::uint64_t{1} << 20);
}

TEST(PeakMemory, IsWhatTheKernelCallsTheHighWaterMark) {
  const System system;
  EXPECT_EQ(system.peak(), 0U) << "nothing tells it";
  system.write("proc/self/status", "Name:\tcpt_dist\nState:\tR (running)\nVmHWM:\t  2048 kB\nVmRSS:\t 1024 kB\n");
  EXPECT_EQ(system.peak(), std::uint64_t{2} << 20);
}

TEST(PeakMemory, OfThisProcessHoldsWhatItHasWritten) {
  constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;
  const std::uint64_t before = peak_memory();
  const std::vector<char> written(kBytes, 'x');
  EXPECT_GE(peak_memory(), kBytes);
  EXPECT_GE(peak_memory(), before);
  EXPECT_EQ(written.back(), 'x');
}

TEST(LargestMemory, IsThatOfOneRankOnAll) {
  run_threads(3, [](Communicator& comm) {
    const auto table = static_cast<std::uint64_t>(comm.rank()) * 10;
    const MemoryUse use = largest_memory({.table_bytes = table, .structure_bytes = table + 1}, comm);
    EXPECT_EQ(use.table_bytes, static_cast<std::uint64_t>(use.rank) * 10);
    EXPECT_EQ(use.structure_bytes, use.table_bytes + 1);
    EXPECT_GT(use.peak_bytes, std::uint64_t{1} << 20);
    for (const int rank : all_gather_value(comm, use.rank, "test")) EXPECT_EQ(rank, use.rank);
    for (const std::uint64_t peak : all_gather_value(comm, use.peak_bytes, "test")) EXPECT_EQ(peak, use.peak_bytes);
  });
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
    bind_to({cores.front()});
    EXPECT_EQ(ranks_per_core(comm), 4);
  });
  if (cores.size() < 2) GTEST_SKIP() << "needs two cores";
  run_threads(4, [&](Communicator& comm) {
    bind_to({cores[static_cast<std::size_t>(comm.rank() % 2)]});
    EXPECT_EQ(ranks_per_core(comm), 2);
  });
}

TEST(FreeDisk, IsThatOfTheNearestFolderThatExists) {
  const fs::path here = fs::temp_directory_path();
  const auto free = free_disk(here / "cpt_no_such_folder" / "run");
  ASSERT_TRUE(free);
  EXPECT_EQ(free->directory, here);
  EXPECT_GT(free->bytes, 0U);
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
