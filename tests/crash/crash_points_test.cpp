// A few crashes of each sort, quickly; crash_sweep_test.cpp has the many.
#include "crash/crash_fixture.h"

namespace cpt::testing {
namespace {

using ::testing::IsSupersetOf;

class Crash : public CrashTest {};

// What the points of a sweep are chosen from holds what it should.
TEST_F(Crash, CallsOfACheckpointAreSeen) {
  learn_undisturbed({"partitioned", 2});
  EXPECT_GE(count_checkpoints(calls(0)), 6U);
  EXPECT_THAT(names_of(of_checkpoint(calls(0), 4)),
              IsSupersetOf({"mkdir", "open", "write", "fsync", "rename", "unlink", "rmdir"}));
  EXPECT_THAT(names_of(of_checkpoint(calls(1), 4)), IsSupersetOf({"open", "write", "fsync"}));
  EXPECT_THAT(names_of(of_kind(calls(0), "message")), IsSupersetOf({"MPI_Isend", "MPI_Finalize"}));
  EXPECT_THAT(names_of(outside_of_checkpoints(calls(0))), IsSupersetOf({"mkdir", "pwrite", "link", "rename"}));
}

TEST_F(Crash, OfOneRankIsAsIfNothingHadHappened) {
  ASSERT_NO_FATAL_FAILURE(learn_undisturbed({"partitioned", 2}));
  const Calls chosen = spread(of_checkpoint(calls(0), 4), 3);
  crash_at_each({{{0, chosen[1], Lost::kOneRank}}, {{1, calls(1)[calls(1).size() / 2], Lost::kOneRank}}});
}

TEST_F(Crash, OfAllRanksIsAsIfNothingHadHappened) {
  ASSERT_NO_FATAL_FAILURE(learn_undisturbed({"replicated", 2}));
  std::vector<Points> crashes;
  for (const Call& call : spread(of_kind(calls(0), "file"), 4)) crashes.push_back({{0, call, Lost::kAllRanks}});
  crash_at_each(crashes);
}

}  // namespace
}  // namespace cpt::testing
