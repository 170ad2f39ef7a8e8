// Jobs that end without being asked: what they had kept is intact, and another job goes on from it.
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "mpi/job_checkpoints.h"
#include "mpi/job_disk.h"
#include "mpi/job_waiting.h"

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::AllOf;
using ::testing::HasSubstr;

class CrashedJob : public CheckpointTest {
 protected:
  void expect_as_without_crash(const Outcome& outcome) const {
    expect_complete(outcome);
    EXPECT_EQ(figures(), straight_);
    EXPECT_EQ(reports(), straight_reports_);
  }
  void remember_straight() {
    straight_ = figures();
    straight_reports_ = reports();
  }

 private:
  Json straight_;
  std::vector<Json> straight_reports_;
};

// Metrics are told between checkpoints, so some of them tell of what has to be done again.
TEST_F(CrashedJob, TellsNothingTwiceWhereverItGoesOn) {
  for (const int ranks : {1, 3}) {
    SCOPED_TRACE(std::to_string(ranks) + " ranks");
    const Words arguments =
        train({shards()}, {"--test", file("test.vw", stream(50, 99)), "--round-examples", "60", "--keep", "1000"});
    expect_complete(run(ranks, joined(arguments, kManyCheckpoints)));
    remember_straight();
    const fs::path whole = path("whole");
    fs::rename(run_directory(), whole);
    const auto last = Checkpoints(whole / "checkpoints").list().back().number;
    ASSERT_GT(last, 4U);
    for (std::uint64_t number = 1; number < last; number += ranks == 1 ? 1 : (last + 3) / 4) {
      SCOPED_TRACE("from checkpoint " + std::to_string(number));
      fs::copy(whole, run_directory(), fs::copy_options::recursive);
      rewind(number);
      expect_as_without_crash(run(ranks, joined(arguments, {"--resume", "--checkpoint-every", "never"})));
      fs::remove_all(run_directory());
    }
    fs::remove_all(whole);
  }
}

class KilledJob : public CrashedJob, public ::testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(, KilledJob, ::testing::Values("partitioned", "replicated", "hybrid"),
                         [](const auto& test) { return test.param; });

// All processes at once, between two checkpoints, and twice in a row.
TEST_P(KilledJob, LosesOnlyWhatWasNotKept) {
  const Words arguments =
      train({shards()}, {"--placement", GetParam(), "--passes", "4", "--round-examples", "6", "--sync-examples", "60"});
  expect_complete(run(3, arguments));
  remember_straight();

  std::uint64_t examples = 0;
  for (const Words& more : {Words{"--checkpoint-every", "100"}, Words{"--checkpoint-every", "100", "--resume"}}) {
    const auto job = start(3, joined(arguments, more));
    wait_for_checkpoint(newest() + 3);
    job->kill_all();
    EXPECT_EQ(job->wait(kSoon).code, 128 + SIGKILL);
    EXPECT_FALSE(newest_state().finished) << "the job was over too soon";
    EXPECT_GT(newest_state().progress.examples, examples);
    examples = newest_state().progress.examples;
    expect_whole_checkpoints();
  }
  expect_as_without_crash(run(3, joined(arguments, {"--resume"})));
}

// A run that follows on a finished one, killed before it has kept anything: what it told is told again.
TEST_F(CrashedJob, GoesOnFromARunThatWasFinished) {
  const Words arguments = train({shards()});
  expect_complete(run_alone(arguments));
  file("shards/6.vw", stream(170, 6));
  const fs::path finished = path("finished");
  fs::copy(run_directory(), finished, fs::copy_options::recursive);
  expect_complete(run_alone(joined(arguments, {"--resume"})));
  remember_straight();

  for (const Checkpoint& checkpoint : checkpoints()) {
    if (!fs::exists(finished / "checkpoints" / checkpoint.directory.filename())) fs::remove_all(checkpoint.directory);
  }
  fs::remove(run_directory() / "summary.json");
  expect_as_without_crash(run_alone(joined(arguments, {"--resume"})));
}

class RunDirectoryInUse : public CheckpointTest {};

TEST_F(RunDirectoryInUse, IsRefusedToAFreshJobAndAwaitedByAResumedOne) {
  const auto holder =
      start(2, train({shards()}, {"--checkpoint-every", "1", "--passes", "1000", "--round-examples", "10"}));
  wait_for_checkpoint(2);
  const std::string process = std::to_string(holder->process_of_rank(0));
  const std::string in_use = run_directory().string() + ": in use by process " + process + " on host ";
  const Outcome refused = run(2, train({shards()}));
  EXPECT_EQ(refused.code, kCannotWrite);
  EXPECT_THAT(reasons_in(refused), ::testing::ElementsAre(HasSubstr(in_use)));

  const auto resumed = start(2, train({shards()}, {"--resume", "--passes", "1000"}));
  std::this_thread::sleep_for(std::chrono::seconds(3 * kSlowdown));
  EXPECT_FALSE(resumed->has_ended());
  holder->kill_all();
  EXPECT_EQ(holder->wait(kSoon).code, 128 + SIGKILL);
  const std::uint64_t kept = newest();
  wait_for_checkpoint(kept + 1);
  ASSERT_EQ(::kill(resumed->process(), kAskToStop), 0);
  const Outcome outcome = resumed->wait(kLongEnough);
  EXPECT_EQ(outcome.code, kStoppedOnRequest);
  EXPECT_THAT(outcome.err, HasSubstr(in_use));
}

class DiskOfAJob : public CheckpointTest {
 protected:
  static constexpr const char* kMuch = "size=256m";
};

TEST_F(DiskOfAJob, IsFullWhenALaterCheckpointIsWritten) {
  const Words arguments = train({shards()}, {"--passes", "2"});
  expect_complete(run(3, arguments));
  const Json straight = figures();
  fs::remove_all(run_directory());

  const Disk disk(run_directory(), "size=2m");
  if (!disk.mounted()) GTEST_SKIP() << "a small file system cannot be mounted here: " << disk.reason();
  const Words many{"--checkpoint-every", "1", "--round-examples", "10", "--keep", "1000"};
  expect_failed(run(3, joined(arguments, many)), kCannotWrite,
                AllOf(HasSubstr(run_directory().string()), HasSubstr("No space left on device")));
  ASSERT_GT(newest(), 1U);
  expect_whole_checkpoints();
  // Nothing can be kept there, but nothing is lost.
  expect_failed(run(3, joined(joined(arguments, many), {"--resume"})), kCannotWrite,
                HasSubstr("No space left on device"));
  expect_whole_checkpoints();
  disk.change(0, kMuch);
  expect_complete(run(3, joined(arguments, {"--resume"})));
  EXPECT_EQ(figures(), straight);
}

TEST_F(DiskOfAJob, CannotBeWritten) {
  const Disk disk(run_directory(), kMuch);
  if (!disk.mounted()) GTEST_SKIP() << "a file system cannot be mounted here: " << disk.reason();
  const Words arguments = train({shards()}, {"--passes", "2"});
  expect_complete(run(3, arguments));
  const Json straight = figures();
  rewind(1);
  disk.change(MS_RDONLY, kMuch);
  for (const int ranks : {1, 3}) {
    expect_failed(run(ranks, joined(arguments, {"--resume"})), kCannotWrite,
                  AllOf(HasSubstr(run_directory().string()), HasSubstr("Read-only file system")));
  }
  expect_whole_checkpoints();
  disk.change(0, kMuch);
  expect_complete(run(3, joined(arguments, {"--resume"})));
  EXPECT_EQ(figures(), straight);
}

}  // namespace
}  // namespace cpt::testing
