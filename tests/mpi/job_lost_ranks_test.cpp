// Ranks that are killed, stopped or silent: the job ends by itself, says which, and leaves no process and no result.
#include <signal.h>

#include <chrono>
#include <thread>

#include "data/fifo.h"
#include "mpi/job_fixture.h"
#include "mpi/job_waiting.h"

namespace cpt::testing {
namespace {

using ::testing::ContainsRegex;
using ::testing::IsEmpty;

constexpr int kRanks = 3;
// Far beyond the end of any test.
const Words kForEver{"--passes", "4000000000"};
// Whoever writes to a disk is given more time.
const Words kForEverWatched{"--passes", "4000000000", "--stall-timeout", "2s", "--checkpoint-every", "never"};

class LostRank : public JobTest, public ::testing::WithParamInterface<int> {
 protected:
  int lost() const { return GetParam(); }
  std::string name_of_lost() const { return "rank " + std::to_string(lost()); }

  // A pipe for each rank (they count as equal, so the ranks get them in turn) with so many examples, and no end.
  Words pipes(int examples_of_lost, int examples_of_others) {
    Words paths;
    for (int r = 0; r < kRanks; ++r) {
      pipes_.push_back(std::make_unique<Fifo>(path(std::to_string(r) + ".vw")));
      pipes_.back()->write(stream(r == lost() ? examples_of_lost : examples_of_others, static_cast<unsigned>(r)));
      paths.push_back(pipes_.back()->path());
    }
    return paths;
  }

  void close_pipes() { pipes_.clear(); }

  // mpirun names the rank, its host and the signal, so there is nothing for the others to say.
  void expect_killed(const Outcome& outcome) const {
    EXPECT_EQ(outcome.code, 128 + SIGKILL);
    EXPECT_THAT(outcome.err, ContainsRegex(name_of_lost() + " with PID [0-9]+ on node [^ ]+ exited on signal 9"));
    EXPECT_THAT(reasons_in(outcome), IsEmpty());
    expect_no_results();
  }

 private:
  std::vector<std::unique_ptr<Fifo>> pipes_;
};

INSTANTIATE_TEST_SUITE_P(, LostRank, ::testing::Values(0, 2),
                         [](const auto& test) { return "Rank" + std::to_string(test.param); });

TEST_P(LostRank, KilledWhileAllLearn) {
  const auto job = start(kRanks, train({shards()}, kForEver));
  wait_until_learning();
  ::kill(job->process_of_rank(lost()), SIGKILL);
  expect_killed(job->wait(kSoon));
}

TEST_P(LostRank, KilledWhileItWaitsForInput) {
  const auto job = start(kRanks, train(pipes(1100, 1600)));  // more than the reader takes at a time
  wait_until_learning();
  ::kill(job->process_of_rank(lost()), SIGKILL);
  expect_killed(job->wait(kSoon));
}

// The stopped process goes too: Job::wait() sees to that.
TEST_P(LostRank, StoppedWhileAllLearn) {
  const auto job = start(kRanks, train({shards()}, kForEverWatched));
  wait_until_learning();
  ::kill(job->process_of_rank(lost()), SIGSTOP);
  expect_failed(job->wait(kSoon), 1,
                ContainsRegex("^cpt_dist: rank [012] on [^ ]+ has waited [0-9.]+ s in [a-z0-9: ]+: no sign of " +
                              name_of_lost() + " on [^ ,]+$"));
}

// It is not lost: it says so.
TEST_P(LostRank, WaitsForAPipeThatIsQuiet) {
  const auto job = start(kRanks, train(pipes(1100, 1600), {"--stall-timeout", "2s"}));
  wait_until_learning();
  std::this_thread::sleep_for(std::chrono::seconds(6));
  EXPECT_FALSE(job->has_ended());
  close_pipes();
  expect_complete(job->wait(kLongEnough));
}

using SuspendedJob = JobTest;

// As a batch system does, which does not reach all hosts at once. A rank that has waited for the others then would have
// waited for longer than it may, but it was suspended itself.
TEST_F(SuspendedJob, GoesOnWhenItIsContinued) {
  const auto job = start(kRanks, train({shards()}, {"--passes", "4000000000", "--stall-timeout", "8s",
                                                    "--checkpoint-every", "never", "--progress-every", "0.2s"}));
  const auto examples = [&] {
    const std::vector<Json> all = stretches();
    return all.empty() ? std::uint64_t{0} : all.back()["examples"].get<std::uint64_t>();
  };
  wait_until_learning();
  wait_until("there is progress", [&] { return examples() > 0; });
  const auto signal_first_and_last = [&](int signal) {
    ::kill(job->process_of_rank(0), signal);
    ::kill(job->process_of_rank(1), signal);
    std::this_thread::sleep_for(std::chrono::seconds(1));
    ::kill(job->process_of_rank(2), signal);
  };
  signal_first_and_last(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(10));
  ::kill(job->process_of_rank(2), SIGCONT);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const std::uint64_t before = examples();
  signal_first_and_last(SIGCONT);
  EXPECT_TRUE(comes_true(kSoon, [&] { return examples() > before; })) << before << " examples";
  std::this_thread::sleep_for(std::chrono::seconds(10));  // beyond the stall timeout
  const std::uint64_t later = examples();
  EXPECT_TRUE(comes_true(kSoon, [&] { return examples() > later; })) << later << " examples";
  EXPECT_FALSE(job->has_ended());
  ::kill(job->process(), SIGKILL);
  job->wait(kSoon);
}

class EndedJob : public JobTest, public ::testing::WithParamInterface<int> {};

INSTANTIATE_TEST_SUITE_P(, EndedJob, ::testing::Values(SIGINT, SIGTERM, SIGKILL),
                         [](const auto& test) { return std::string("By") + ::sigabbrev_np(test.param); });

// Control-C, a batch system's request, and its last word.
TEST_P(EndedJob, TakesItsRanksAlongAndLeavesTheRunDirectoryToTheNext) {
  const auto job = start(kRanks, train({shards()}, kForEver));
  wait_until_learning();
  ::kill(job->process(), GetParam());
  EXPECT_NE(job->wait(kSoon).code, 0);
  expect_no_results();
  expect_complete(run(kRanks, train({shards()}, {"--resume", "--passes", "1"})));
}

TEST_P(EndedJob, AloneLeavesNoResults) {
  const auto job = start_alone(train({shards()}, kForEver));
  wait_until_learning();
  ::kill(job->process(), GetParam());
  EXPECT_EQ(job->wait(kSoon).code, GetParam() == SIGKILL ? 128 + SIGKILL : kStoppedOnRequest);
  expect_no_results();
}

using InBackground = JobTest;

// As nohup and a shell without job control start a job.
TEST_F(InBackground, IgnoresWhatItWasStartedToIgnore) {
  const Words ignoring{"sh", "-c", "trap '' HUP INT; exec \"$0\" \"$@\"", CPT_DIST};
  const auto job = start_command(joined(ignoring, train({shards()}, joined(kForEver, {"--progress-every", "0.1s"}))));
  wait_until_learning();
  const std::size_t before = stretches().size();
  for (const int signal : {SIGHUP, SIGINT, SIGINT}) {
    ASSERT_EQ(::kill(job->process(), signal), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_TRUE(comes_true(kSoon, [&] { return stretches().size() > before + 5; })) << "it has not gone on";
  EXPECT_FALSE(job->has_ended());
  ::kill(job->process(), SIGTERM);
  EXPECT_EQ(job->wait(kSoon).code, kStoppedOnRequest);
}

using InterruptedJob = JobTest;

// Rank 0 takes the first Control-C for a request, and waits for rank 1 all the same, which waits for input.
TEST_F(InterruptedJob, EndsAtOnceIfItIsInterruptedAgain) {
  Fifo shard(path("shard.vw"));
  shard.write(stream(1100));
  const auto job = start(2, train({shard.path(), file("long.vw", stream(5000))}));
  wait_until_learning();
  const pid_t rank = job->process_of_rank(0);
  wait_until("the job ends", [&] { return ::kill(rank, SIGINT) != 0 || job->has_ended(); });
  EXPECT_EQ(job->wait(kSoon).code, 128 + SIGINT);
  expect_no_results();
}

}  // namespace
}  // namespace cpt::testing
