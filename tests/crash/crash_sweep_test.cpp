// Jobs killed at calls of all sorts, all over a run and at every step of a checkpoint, go on as if nothing had
// happened.
#include <ostream>

#include "crash/crash_fixture.h"

namespace cpt::testing {
namespace {

// Which calls of the rank that dies.
enum class Where {
  kCheckpoint,   // file calls of one checkpoint, with the pruning of an older one
  kBeginAndEnd,  // file calls outside of checkpoints
  kMessages,     // whatever tells other ranks something, or asks them
};

struct Sweep {
  std::string name;
  CrashJob job;
  int rank = 0;
  Lost lost = Lost::kOneRank;
  Where where = Where::kMessages;
  std::size_t points = 0;  // evenly spread over the calls, so many for all parts together; or all calls, if fewer
  std::size_t parts = 1;   // tests that share the points
};

// A part of a sweep, so that several tests can run at a time.
struct Part {
  Sweep sweep;
  std::size_t part = 0;

  std::string name() const { return sweep.name + "Part" + std::to_string(part); }
  friend std::ostream& operator<<(std::ostream& out, const Part& part) { return out << part.name(); }
};

// The checkpoint whose every step is taken; two others are there before it, of which one goes.
constexpr std::uint64_t kCheckpointUnderTest = 4;
constexpr std::size_t kAllPoints = 1000;

const CrashJob kPartitioned{"partitioned", 3};
const CrashJob kReplicated{"replicated", 2};
const CrashJob kHybrid{"hybrid", 2};
const CrashJob kAlone{"partitioned", 1};

std::vector<Part> parts() {
  const std::vector<Sweep> sweeps{
      {"PartitionedRank0InACheckpoint", kPartitioned, 0, Lost::kOneRankFirst, Where::kCheckpoint, kAllPoints, 4},
      {"PartitionedAllInACheckpoint", kPartitioned, 0, Lost::kAllRanks, Where::kCheckpoint, 24, 2},
      {"PartitionedRank2InACheckpoint", kPartitioned, 2, Lost::kOneRank, Where::kCheckpoint, kAllPoints, 1},
      {"PartitionedAllWithRank2InACheckpoint", kPartitioned, 2, Lost::kAllRanks, Where::kCheckpoint, kAllPoints, 1},
      {"PartitionedAllAtBeginAndEnd", kPartitioned, 0, Lost::kAllRanks, Where::kBeginAndEnd, 30, 2},
      {"PartitionedRank0WithMessages", kPartitioned, 0, Lost::kOneRankFirst, Where::kMessages, 12, 2},
      {"PartitionedRank2WithMessages", kPartitioned, 2, Lost::kOneRank, Where::kMessages, 12, 2},
      {"PartitionedAllWithMessages", kPartitioned, 1, Lost::kAllRanks, Where::kMessages, 12, 2},
      {"ReplicatedRank0InACheckpoint", kReplicated, 0, Lost::kOneRankFirst, Where::kCheckpoint, 12, 1},
      {"ReplicatedAllInACheckpoint", kReplicated, 1, Lost::kAllRanks, Where::kCheckpoint, 12, 1},
      {"ReplicatedRank1WithMessages", kReplicated, 1, Lost::kOneRank, Where::kMessages, 8, 1},
      {"ReplicatedAllWithMessages", kReplicated, 0, Lost::kAllRanks, Where::kMessages, 8, 1},
      {"HybridAllInACheckpoint", kHybrid, 1, Lost::kAllRanks, Where::kCheckpoint, 12, 1},
      {"HybridRank0WithMessages", kHybrid, 0, Lost::kOneRankFirst, Where::kMessages, 8, 1},
      {"HybridAllWithMessages", kHybrid, 1, Lost::kAllRanks, Where::kMessages, 8, 1},
      {"AloneInACheckpoint", kAlone, 0, Lost::kAllRanks, Where::kCheckpoint, 12, 1},
      {"AloneAtBeginAndEnd", kAlone, 0, Lost::kAllRanks, Where::kBeginAndEnd, 12, 1},
  };
  std::vector<Part> all;
  for (const Sweep& sweep : sweeps) {
    for (std::size_t part = 0; part < sweep.parts; ++part) all.push_back({sweep, part});
  }
  return all;
}

class CrashSweep : public CrashTest, public ::testing::WithParamInterface<Part> {
 protected:
  Calls calls_of(const Sweep& sweep) const {
    switch (sweep.where) {
      case Where::kCheckpoint:
        return of_checkpoint(calls(sweep.rank), kCheckpointUnderTest);
      case Where::kBeginAndEnd:
        return outside_of_checkpoints(calls(sweep.rank));
      case Where::kMessages:
        break;
    }
    return of_kind(calls(sweep.rank), "message");
  }
};

class SecondCrash : public CrashTest {};

// So that each is at another call of a job that goes on: the first ones prepare the run directory.
constexpr std::uint64_t kFileStep = 3;
constexpr std::uint64_t kMessageStep = 20;

std::vector<Points> with_second_crashes(const Calls& first, Point second, std::uint64_t step) {
  std::vector<Points> crashes;
  for (const Call& call : first) {
    second.call.number = 1 + step * crashes.size();
    crashes.push_back({{0, call, Lost::kAllRanks}, second});
  }
  return crashes;
}

TEST_F(SecondCrash, WhileItsDirectoryIsTakenUpAgain) {
  ASSERT_NO_FATAL_FAILURE(learn_undisturbed(kPartitioned));
  const Point second{0, {"file", 0, "", {}}, Lost::kAllRanks};
  crash_at_each(with_second_crashes(spread(of_checkpoint(calls(0), kCheckpointUnderTest), 14), second, kFileStep));
}

TEST_F(SecondCrash, WhileTheResumedJobLearns) {
  ASSERT_NO_FATAL_FAILURE(learn_undisturbed(kReplicated));
  const Point second{1, {"message", 0, "", {}}, Lost::kOneRank};
  crash_at_each(with_second_crashes(spread(of_checkpoint(calls(0), kCheckpointUnderTest), 7), second, kMessageStep));
}

INSTANTIATE_TEST_SUITE_P(, CrashSweep, ::testing::ValuesIn(parts()),
                         [](const auto& test) { return test.param.name(); });

TEST_P(CrashSweep, IsAsIfNothingHadHappened) {
  const auto& [sweep, part] = GetParam();
  ASSERT_NO_FATAL_FAILURE(learn_undisturbed(sweep.job));
  const Calls chosen = spread(calls_of(sweep), sweep.points);
  std::vector<Points> crashes;
  for (std::size_t i = part; i < chosen.size(); i += sweep.parts)
    crashes.push_back({{sweep.rank, chosen[i], sweep.lost}});
  crash_at_each(crashes);
}

}  // namespace
}  // namespace cpt::testing
