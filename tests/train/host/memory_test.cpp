// What is free is what the kernel and the control groups leave, and a table that needs more is refused with the
// numbers.
#include "train/host/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "comm/alone.h"
#include "comm/collectives.h"
#include "comm/threads/threads.h"
#include "cpt/error.h"
#include "cpt/trainer.h"
#include "train/replicated/touched_rows.h"

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

// Ranks of which so many at a time share a host. Nothing is sent.
class Cluster : public Alone {
 public:
  Cluster(int ranks, int on_a_host, int rank) : ranks_(ranks), on_a_host_(on_a_host), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return ranks_; }
  std::string host_of(int rank) const override { return "node" + std::to_string(rank / on_a_host_); }

 private:
  int ranks_;
  int on_a_host_;
  int rank_;
};

TEST(TableBytes, AreSharedByOwnersAndRepeatedByReplicas) {
  ModelOptions model;
  model.bits = 24;
  EXPECT_EQ(table_bytes(model, TableUse::kReplicated, Alone()), kGib);
  EXPECT_GE(table_bytes(model, TableUse::kReplicated, Cluster(8, 4, 2)),
            4 * (kGib + (std::uint64_t{sizeof(TouchedRows::Entry)} << 24)))
      << "rows, and what they held at the last merge";
  EXPECT_EQ(table_bytes(model, TableUse::kOnlyRead, Cluster(8, 4, 2)), 4 * kGib);
  EXPECT_EQ(table_bytes(model, TableUse::kPartitioned, Cluster(8, 8, 2)), kGib);
  EXPECT_EQ(table_bytes(model, TableUse::kPartitioned, Cluster(8, 4, 2)) +
                table_bytes(model, TableUse::kPartitioned, Cluster(8, 4, 7)),
            kGib);
  model.method = Method::kTable;
  EXPECT_LT(table_bytes(model, TableUse::kReplicated, Alone()), kGib) << "counts, and no weights";
}

TEST(TableBytes, OfTheRootsOwnerAreNeverLessThanASixteenth) {
  ModelOptions model;
  model.bits = 24;
  EXPECT_GE(table_bytes(model, TableUse::kPartitioned, Cluster(64, 1, 0)), kGib / 16);
  EXPECT_LT(table_bytes(model, TableUse::kPartitioned, Cluster(64, 1, 1)), kGib / 32);
}

ModelOptions with_bits(int bits) {
  ModelOptions model;
  model.bits = bits;
  return model;
}

std::string refusal(const ModelOptions& model, TableUse use, Communicator& comm, std::optional<std::uint64_t> free) {
  try {
    require_memory(model, use, comm, free);
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kFailed);
    return error.what();
  }
  return "";
}

TEST(RequireMemory, RefusesATableThatDoesNotFitAndSaysWhatWould) {
  Alone comm;
  EXPECT_EQ(refusal(with_bits(26), TableUse::kReplicated, comm, 4 * kGib), "");
  EXPECT_EQ(refusal(with_bits(26), TableUse::kReplicated, comm, std::nullopt), "");
  EXPECT_EQ(refusal(with_bits(26), TableUse::kReplicated, comm, 3 * kGib),
            "the weight table of 2^26 rows takes 4.0 GiB of this machine's memory, and 3.0 GiB are free: --bits 25 "
            "would fit");
}

// Threads of one process are ranks on one host.
TEST(RequireMemory, CountsTheRanksOfTheHostAndFailsOnAll) {
  run_threads(4, [](Communicator& comm) {
    EXPECT_EQ(refusal(with_bits(26), TableUse::kPartitioned, comm, 4 * kGib), "");
    EXPECT_THAT(refusal(with_bits(26), TableUse::kReplicated, comm, (comm.rank() == 2 ? 4 : 99) * kGib),
                ::testing::MatchesRegex("rank 2 on [^ ]+: the weight table of 2\\^26 rows takes 36.0 GiB of this "
                                        "machine's memory, where 4 of 4 ranks run, each with the whole table and what "
                                        "its rows held before they changed, and 4.0 GiB are free: --bits 22 would "
                                        "fit"));
  });
}

}  // namespace
}  // namespace cpt
