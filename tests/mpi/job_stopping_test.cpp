// Requests by signal: a checkpoint, or a checkpoint and the end, after which another job goes on.
#include <algorithm>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "data/fifo.h"
#include "mpi/job_checkpoints.h"
#include "mpi/job_waiting.h"

namespace cpt::testing {
namespace {

namespace fs = std::filesystem;

using ::testing::Contains;

struct Stops {
  const char* name;
  const char* placement;
  int ranks;    // 0: without mpirun
  int process;  // whom the signal reaches: a rank, or -1 for the one that was started
  int signal;
  const char* passes;  // so many that it still runs when it is told to stop for the second time
};

class StoppedJob : public CheckpointTest, public ::testing::WithParamInterface<Stops> {
 protected:
  std::unique_ptr<Job> start_job(const Words& more) {
    const Words common{
        "--test", file("test.vw", stream(300, 99)), "--passes", GetParam().passes, "--placement", GetParam().placement};
    const Words arguments = train({shards()}, joined(common, more));
    return GetParam().ranks == 0 ? start_alone(arguments) : start(GetParam().ranks, arguments);
  }
  Outcome run_job(const Words& more) { return start_job(more)->wait(kLongEnough); }

  pid_t process_of(const Job& job) const {
    return GetParam().process == -1 ? job.process() : job.process_of_rank(GetParam().process);
  }
};

// Replicas and copies merge before a checkpoint that cannot wait, so theirs are not the weights of a run without it.
void expect_same_or_same_counts(const std::string& placement, const Json& figures, const Json& expected) {
  if (placement == "partitioned") {
    EXPECT_EQ(figures, expected);
    return;
  }
  EXPECT_EQ(figures.size(), expected.size());
  for (const auto& [part, its] : expected.items()) {
    for (const char* count : {"examples", "labels"})
      EXPECT_EQ(figures[part].value(count, 0), its.value(count, 0)) << part;
  }
}

INSTANTIATE_TEST_SUITE_P(, StoppedJob,
                         ::testing::Values(Stops{"Alone", "partitioned", 0, -1, SIGUSR2, "30"},
                                           Stops{"AloneByTerm", "partitioned", 0, -1, SIGTERM, "30"},
                                           Stops{"AloneByHangUp", "partitioned", 0, -1, SIGHUP, "30"},
                                           Stops{"Partitioned", "partitioned", 3, -1, SIGUSR2, "12"},
                                           Stops{"PartitionedByTermOfOne", "partitioned", 3, 1, SIGTERM, "12"},
                                           Stops{"Replicated", "replicated", 3, -1, SIGUSR2, "12"},
                                           Stops{"Hybrid", "hybrid", 3, -1, SIGUSR2, "12"}),
                         [](const auto& test) { return test.param.name; });

TEST_P(StoppedJob, GoesOnTwiceAsIfItHadNotStopped) {
  expect_complete(run_job({"--checkpoint-every", "never"}));
  const Json straight = figures();

  std::pair<Phase, std::uint64_t> reached;
  for (const Words& more : {kManyCheckpoints, joined(kManyCheckpoints, {"--resume"})}) {
    const auto job = start_job(more);
    const pid_t process = process_of(*job);
    expect_stopped(stop(*job, process, GetParam().signal));
    const ProgressState progress = newest_state().progress;
    EXPECT_GT(std::pair(progress.phase, progress.examples), reached);
    reached = {progress.phase, progress.examples};
  }
  expect_complete(run_job({"--resume"}));
  expect_same_or_same_counts(GetParam().placement, figures(), straight);
}

class AskedJob : public CheckpointTest, public ::testing::WithParamInterface<const char*> {
 protected:
  // Trains in tiny rounds, so that there is time to ask.
  Words slowly(const Words& more = {}) const {
    const char* passes = std::string(GetParam()) == "partitioned" ? "40" : "15";
    return train({shards()}, joined({"--placement", GetParam(), "--passes", passes, "--round-examples", "3",
                                     "--sync-examples", "100"},
                                    more));
  }
};

INSTANTIATE_TEST_SUITE_P(, AskedJob, ::testing::Values("partitioned", "replicated", "hybrid"),
                         [](const auto& test) { return test.param; });

TEST_P(AskedJob, WritesACheckpointAndGoesOn) {
  expect_complete(run(3, slowly()));
  const Json straight = figures();
  fs::remove_all(run_directory());

  const auto job = start(3, slowly());
  wait_until_learning();
  ASSERT_EQ(::kill(job->process(), SIGUSR1), 0);
  expect_complete(job->wait(kLongEnough));
  expect_same_or_same_counts(GetParam(), figures(), straight);
  const std::vector<Json> told = checkpoints_told();
  EXPECT_TRUE(std::ranges::any_of(told, [](const Json& line) { return line["examples"].get<int>() % kExamples != 0; }))
      << "only checkpoints at the ends of passes";
  expect_whole_checkpoints();
}

// What would be asked of it is not done, and this is said.
TEST_P(AskedJob, WarnsIfItWritesNone) {
  const auto job = start(3, slowly({"--checkpoint-every", "never"}));
  wait_until_learning();
  ASSERT_EQ(::kill(job->process(), SIGUSR1), 0);
  const Outcome outcome = job->wait(kLongEnough);
  expect_complete(outcome);
  EXPECT_THAT(
      lines_of(outcome.err),
      Contains("cpt_dist: warning: a checkpoint was asked for, but this run writes none").Times(::testing::Ge(1)));
  EXPECT_FALSE(fs::exists(run_directory() / "checkpoints"));
}

// Each rank a pipe that brings no more.
class WaitingJob : public CheckpointTest, public ::testing::WithParamInterface<const char*> {
 protected:
  WaitingJob() {
    for (const char* name : {"a.vw", "b.vw"}) pipes_.push_back(std::make_unique<Fifo>(path(name)));
    for (const auto& pipe : pipes_) pipe->write(stream(1100));  // more than the reader takes at a time
  }
  Words on(std::size_t pipes) const {
    Words paths;
    for (std::size_t i = 0; i < pipes; ++i) paths.push_back(pipes_[i]->path());
    return train(paths, {"--placement", GetParam()});
  }
  void expect_nothing_kept(const Outcome& outcome) const {
    expect_failed(outcome, 1, ::testing::HasSubstr("and nothing is kept: a pipe cannot be read again"));
  }

  std::vector<std::unique_ptr<Fifo>> pipes_;
};

INSTANTIATE_TEST_SUITE_P(, WaitingJob, ::testing::Values("partitioned", "replicated", "hybrid"),
                         [](const auto& test) { return test.param; });

TEST_P(WaitingJob, OfOneRankEndsOnRequest) {
  for (const int signal : {SIGUSR2, SIGTERM, SIGINT}) {
    const auto job = start_alone(on(1));
    wait_until_learning();
    ASSERT_EQ(::kill(job->process(), signal), 0);
    expect_nothing_kept(job->wait(kSoon));
    pipes_[0]->write(stream(1100));
    fs::remove_all(run_directory());
  }
}

// Rank 0 waits in MPI_Init for rank 1, which is held up until go().
class StartingJob : public CheckpointTest {
 protected:
  std::unique_ptr<Job> start_waiting() {
    const Words program = joined({CPT_DIST}, train({shards()}, {"--passes", "30"}));
    const Words wait_to_go{"sh", "-c", "while [ ! -e \"$0\" ]; do sleep 0.05; done; exec \"$@\"", path("go")};
    const Words first = joined({CPT_MPIEXEC, "-n", "1"}, program);
    auto job = start_command(joined(joined(first, {":", "-n", "1"}), joined(wait_to_go, program)));
    wait_until("rank 0 waits in MPI_Init", [&] { return catches(job->process_of_rank(0), SIGUSR2); });
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return job;
  }
  void go() const { file("go", ""); }

 private:
  static bool catches(pid_t process, int signal) {
    const std::string status = content_of("/proc/" + std::to_string(process) + "/status");
    const std::size_t caught = status.find("SigCgt:");
    return caught != std::string::npos &&
           (std::stoull(status.substr(caught + 7), nullptr, 16) >> (signal - 1) & 1) != 0;
  }
};

TEST_F(StartingJob, StopsOnRequestOnceItTrains) {
  const auto job = start_waiting();
  ASSERT_EQ(::kill(job->process_of_rank(0), kAskToStop), 0);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  go();
  expect_stopped(job->wait(kLongEnough));
}

TEST_F(StartingJob, EndsAtOnceByTerm) {
  const auto job = start_waiting();
  ASSERT_EQ(::kill(job->process_of_rank(0), SIGTERM), 0);
  EXPECT_NE(job->wait(kSoon).code, 0);
}

using ElasticJob = CheckpointTest;

// The ranks of one job after the other, each stopped but the last.
TEST_F(ElasticJob, LeavesTheModelOfAStraightRun) {
  const Words arguments = train({shards()}, {"--test", file("test.vw", stream(300, 99)), "--passes", "12"});
  expect_complete(run(2, arguments));
  const Json straight = figures();
  const auto model = model_files();

  expect_stopped(stop(*start(2, joined(arguments, kManyCheckpoints))));
  expect_stopped(stop(*start(3, joined(arguments, {"--checkpoint-every", "1", "--resume"}))));
  expect_complete(run(1, joined(arguments, {"--resume"})));
  EXPECT_EQ(figures(), straight);
  EXPECT_EQ(summary()["ranks"], 1);
  EXPECT_FALSE(model.empty());
  EXPECT_EQ(model_files(), model);
}

}  // namespace
}  // namespace cpt::testing
