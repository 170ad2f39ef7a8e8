// C7: a run that was ended, however, and goes on leaves the bytes and the figures of one that was never ended: on any
// number of ranks where each owns a part, on the same number where each has all.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <fstream>

#include "api/checkpoint/checkpoint_reader.h"
#include "comm/interposed.h"
#include "store/run/checkpoints.h"
#include "train/checkpoint/resumed_job.h"
#include "train/checkpoint/safe_point.h"

namespace cpt {
namespace {

using ::testing::HasSubstr;

Lines lines(std::uint64_t seed, std::size_t examples, std::size_t first_label = 0) {
  return {.seed = seed, .examples = examples, .labels = 50, .first_label = first_label};
}

// Shards of uneven lengths, one of them empty, that meet some labels in the same rounds.
ResumedJob uneven_job() {
  ResumedJob job;
  job.add_data({random_lines(lines(1, 700)), random_lines(lines(2, 400, 20)), "", random_lines(lines(3, 900, 40)),
                random_lines(lines(4, 100, 10))});
  job.set_test({random_lines(lines(5, 300, 60)), random_lines(lines(6, 200))});
  return job;
}

// Calls that are spread over a run: the first ones, those in the middle, the last ones.
std::vector<std::uint64_t> spread(std::uint64_t calls, std::uint64_t most) {
  std::vector<std::uint64_t> chosen;
  for (std::uint64_t i = 0; i < most; ++i) chosen.push_back(1 + i * (calls - 1) / (most - 1));
  return chosen;
}

// What the newest checkpoint has learned; nothing if there is none.
std::pair<Phase, std::uint64_t> newest_position(const ResumedJob& job) {
  const std::vector<Checkpoint> kept = Checkpoints(job.checkpoints()).list();
  if (kept.empty()) return {Phase::kTrain, 0};
  const ProgressState progress = read_run_state(kept.back().directory).progress;
  return {progress.phase, progress.examples};
}

// The resumed run, with reports of its own only, goes on there: it reports the rest of what the straight run reports.
void expect_rest(Outcome resumed, const Outcome& expected, const std::pair<Phase, std::uint64_t>& from) {
  ASSERT_FALSE(resumed.reports.empty());
  ASSERT_LE(resumed.reports.size(), expected.reports.size());
  const Report& first = resumed.reports.front();
  EXPECT_GE(std::pair(first.phase, first.so_far.examples), from);  // equal: at the end of a pass
  const auto rest = expected.reports.end() - static_cast<std::ptrdiff_t>(resumed.reports.size());
  resumed.reports.insert(resumed.reports.begin(), expected.reports.begin(), rest);
  expect_same(resumed, expected);
}

TEST(ResumePartitioned, IsTheStraightRunWhereverItIsStopped) {
  const Outcome expected = uneven_job().straight(1);
  for (const int ranks : {1, 2, 3}) {
    // The last calls of a run find nothing that could still be stopped.
    const std::uint64_t calls = uneven_job().calls(ranks, 0);
    for (const std::uint64_t call : spread(calls - calls / 8, 8)) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, stopped at call " + std::to_string(call));
      ResumedJob job = uneven_job();
      job.run_until(ranks, {.call = call});
      expect_same(job.finish(ranks), expected);
    }
  }
}

TEST(ResumePartitioned, IsTheStraightRunOnAnyNumberOfRanks) {
  const Outcome expected = uneven_job().straight(1);
  for (const std::vector<int>& ranks : {std::vector{2, 3, 1}, {1, 2, 5}, {5, 1, 1}, {3, 8, 2}, {1, 1, 3}}) {
    SCOPED_TRACE(::testing::PrintToString(ranks));
    ResumedJob job = uneven_job();
    job.run_until(ranks[0], {.rank = ranks[0] - 1, .call = 3});
    job.run_until(ranks[1], {.rank = ranks[1] / 2, .call = 4});
    expect_same(job.finish(ranks[2]), expected);
  }
}

TEST(ResumePartitioned, IsTheStraightRunInEveryPassAndInTheTest) {
  ResumedJob straight = uneven_job();
  straight.options.passes = 3;
  const Outcome expected = straight.straight(2);
  const std::uint64_t calls = straight.calls(2, 1);
  for (const std::uint64_t call : spread(calls - calls / 8, 10)) {
    SCOPED_TRACE(call);
    ResumedJob job = uneven_job();
    job.options.passes = 3;
    job.run_until(2, {.rank = 1, .call = call});
    expect_same(job.finish(3), expected);
  }
}

TEST(ResumePartitioned, IsTheStraightRunWithSeveralTrees) {
  ResumedJob straight = uneven_job();
  straight.options.model.trees = 2;
  const Outcome expected = straight.straight(1);
  const std::uint64_t calls = straight.calls(3, 1);
  for (const std::uint64_t call : spread(calls - calls / 8, 4)) {
    SCOPED_TRACE(call);
    ResumedJob job = uneven_job();
    job.options.model.trees = 2;
    job.run_until(3, {.rank = 1, .call = call});
    expect_same(job.finish(call % 2 == 0 ? 1 : 4), expected);
  }
}

TEST(ResumePartitioned, LosesNothingToCheckpointsOnTheWay) {
  const Outcome expected = uneven_job().straight(1);
  for (const int ranks : {1, 2, 3}) {
    ResumedJob job = uneven_job();
    job.options.checkpoints.every_examples = 1;
    expect_same(job.finish(ranks), expected);
    EXPECT_EQ(Checkpoints(job.checkpoints()).list().size(), 2U);
  }
}

// The rest is too short for another one on the way: the only one is that of the end.
TEST(ResumePartitioned, CountsTheExamplesUntilTheNextCheckpointFromTheLastOne) {
  for (const int ranks : {1, 2}) {
    SCOPED_TRACE(ranks);
    ResumedJob job;
    job.add_data({random_lines(lines(1, 3500))});
    const std::uint64_t calls = job.calls(ranks, 0);
    job.run_until(ranks, {.call = calls - calls / 8});
    const Checkpoint last = Checkpoints(job.checkpoints()).list().back();
    const std::uint64_t done = read_run_state(last.directory).progress.examples;
    ASSERT_GT(done, 1750U);
    ASSERT_LT(done, 3500U);
    job.options.checkpoints.every_examples = done;
    job.finish(ranks);
    EXPECT_EQ(Checkpoints(job.checkpoints()).list().back().number, last.number + 1);
  }
}

// Stops the job at these calls, and resumes it on another number of ranks.
void expect_straight(const std::function<ResumedJob()>& make, const std::vector<std::uint64_t>& calls) {
  const Outcome expected = make().straight(1);
  for (const int ranks : {1, 2}) {
    for (const std::uint64_t call : calls) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, stopped at call " + std::to_string(call));
      ResumedJob job = make();
      job.run_until(ranks, {.call = call});
      expect_same(job.finish(3 - ranks), expected);
    }
  }
}

TEST(ResumePartitioned, KeepsLinesOfSeveralLabelsWhole) {
  std::string shard;
  for (int i = 0; i < 600; ++i) {
    shard += std::to_string(i % 7) + "," + std::to_string(i % 31) + "," + std::to_string(100 + i % 5) + " " +
             std::to_string(i % 13) + ":1 " + std::to_string(20 + i % 11) + ":0.5\n";
  }
  const auto make = [&] {
    ResumedJob job;
    job.options.multilabel = MultiLabel::kSplit;
    job.add_data({shard, shard});
    return job;
  };
  expect_straight(make, {2, 5, 6});
}

TEST(ResumePartitioned, CountsBadLinesOnce) {
  std::string shard;
  for (int i = 0; i < 900; ++i)
    shard += i % 9 == 4 ? "no line\n" : "l" + std::to_string(i % 40) + " |a f" + std::to_string(i % 17) + "\n";
  const auto make = [&] {
    ResumedJob job;
    job.options.format = Format::kVw;
    job.options.skip_bad_lines = true;
    job.add_data({shard, shard + "no line\nno line\n"});
    return job;
  };
  EXPECT_EQ(make().straight(1).bad_lines, 202U);
  expect_straight(make, {1, 3, 6});
}

// --- replicated, and hybrid: what several ranks have is merged at sync points

class ResumeMerged : public ::testing::TestWithParam<Placement> {
 protected:
  static ResumedJob job() {
    ResumedJob job = uneven_job();
    job.options.placement = GetParam();
    return job;
  }
};
INSTANTIATE_TEST_SUITE_P(, ResumeMerged, ::testing::Values(Placement::kReplicated, Placement::kHybrid),
                         name_of_placement);

TEST_P(ResumeMerged, LosesNothingToCheckpointsOnTheWay) {
  for (const MergeRule rule : {MergeRule::kAverage, MergeRule::kConfidence, MergeRule::kContraction}) {
    ResumedJob once = job();
    once.options.merge = rule;
    const Outcome expected = once.straight(3);
    once.options.checkpoints.every_examples = 1;
    expect_same(once.finish(3), expected);
  }
}

// Every interval ends by cost, and a checkpoint at its end.
TEST_P(ResumeMerged, EndsIntervalsWhereTheStraightRunDoes) {
  const auto by_cost = [] {
    ResumedJob merged = job();
    merged.options.sync_examples = 0;
    merged.options.passes = 3;
    merged.options.checkpoints.every_examples = 1;
    return merged;
  };
  const Outcome expected = by_cost().straight(2);
  int with_checkpoint = 0;
  for (std::uint64_t report = 5; report < 12; ++report) {
    SCOPED_TRACE(report);
    ResumedJob killed = by_cost();
    killed.run_until_report(2, report);
    const std::pair<Phase, std::uint64_t> newest = newest_position(killed);
    if (newest.second > 0) ++with_checkpoint;
    expect_rest(killed.finish(2), expected, newest);
  }
  EXPECT_GE(with_checkpoint, 4);
}

// A request ends a sync interval early, which is another run; but whether the job stops there or goes on is the same.
TEST_P(ResumeMerged, IsTheRunThatWentOnFromThere) {
  for (const int ranks : {2, 3}) {
    const std::uint64_t calls = job().calls(ranks, 0);
    for (const std::uint64_t call : spread(calls - calls / 8, 8)) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, stopped at call " + std::to_string(call));
      ResumedJob went_on = job();
      const Outcome expected = went_on.finish(ranks, {.request = Request::kCheckpoint, .rank = 1, .call = call});
      ResumedJob stopped = job();
      stopped.run_until(ranks, {.rank = 1, .call = call});
      expect_same(stopped.finish(ranks), expected);
    }
  }
}

TEST_P(ResumeMerged, LearnsEveryExampleOnceOnAnyNumberOfRanks) {
  const Outcome straight = job().straight(1);
  for (const std::vector<int>& ranks : {std::vector{2, 3, 1}, {3, 1, 2}, {1, 4, 2}, {2, 2, 5}}) {
    SCOPED_TRACE(::testing::PrintToString(ranks));
    ResumedJob resumed = job();
    resumed.run_until(ranks[0], {.call = 5});
    resumed.run_until(ranks[1], {.call = 6});
    const Outcome outcome = resumed.finish(ranks[2]);
    EXPECT_EQ(outcome.train.examples, straight.train.examples);
    EXPECT_EQ(outcome.test.examples, straight.test.examples);
    EXPECT_EQ(outcome.train.weight, straight.train.weight);
  }
}

// --- all placements

class Resume : public ::testing::TestWithParam<Placement> {
 protected:
  ResumedJob job() const {
    ResumedJob job = uneven_job();
    job.options.placement = GetParam();
    return job;
  }
};

TEST_P(Resume, StartsAtTheLastCheckpointAfterACrash) {
  const bool partitioned = GetParam() == Placement::kPartitioned;
  for (const int ranks : {partitioned ? 1 : 2, 3}) {
    const int then = partitioned ? 4 - ranks : ranks;
    const Outcome expected = job().straight(then);
    // Rounds end between reports, so there are fewer where rounds are longer.
    const std::size_t last = expected.reports.size() - (partitioned ? 3 : 0);
    ASSERT_GT(last, 8U);
    for (std::size_t report = last - 4; report <= last; ++report) {
      SCOPED_TRACE(std::to_string(ranks) + " ranks, report " + std::to_string(report));
      ResumedJob crashed = job();
      crashed.options.checkpoints.every_examples = partitioned ? 200 : 350;
      crashed.run_until_report(ranks, report);
      const std::pair<Phase, std::uint64_t> newest = newest_position(crashed);
      EXPECT_GT(newest.second, 0U);
      expect_rest(crashed.finish(then), expected, newest);
    }
  }
}

TEST_P(Resume, OfAFinishedRunChangesNothing) {
  ResumedJob job = this->job();
  const Outcome first = job.finish(2);
  const std::vector<Checkpoint> checkpoints = Checkpoints(job.checkpoints()).list();
  Outcome again = job.finish(2);
  EXPECT_TRUE(again.reports.empty());
  again.reports = first.reports;
  expect_same(again, first);
  EXPECT_EQ(Checkpoints(job.checkpoints()).list(), checkpoints);
}

TEST_P(Resume, OfAFinishedRunLearnsJustTheNewShards) {
  ResumedJob job = this->job();
  const Outcome first = job.finish(2);
  job.add_shard("more", random_lines(lines(9, 333, 100)));
  const Outcome second = job.finish(3);
  EXPECT_EQ(second.train.examples, 333U);
  EXPECT_EQ(second.test.examples, 0U);  // learned from before
  EXPECT_GT(second.rows_used, first.rows_used);
  EXPECT_NE(second.tree, first.tree);
}

TEST_P(Resume, TestsAgainWhatIsOnlyPredicted) {
  ResumedJob job = this->job();
  job.options.test_frozen = true;
  const Outcome first = job.finish(2);
  job.add_shard("more", random_lines(lines(9, 333, 100)));
  const Outcome second = job.finish(2);
  EXPECT_EQ(second.train.examples, 333U);
  EXPECT_EQ(second.test.examples, 500U);
  EXPECT_NE(second.test.log, first.test.log);
}

constexpr std::chrono::seconds kStallTimeout{30};  // of run_ranks()

// Notes how long rank 0 waits at most in each of its calls.
class Watched : public Interposed {
 public:
  Watched(Communicator& inner, std::vector<std::chrono::milliseconds>& waits)
      : Interposed(inner, [this, &waits](std::uint64_t) {
          if (rank() == 0) waits.push_back(stall_timeout());
        }) {}
};

// How many calls of rank 0 may wait longer than this while two ranks run.
std::ptrdiff_t count_longer_waits(const TrainingOptions& options, std::chrono::milliseconds limit) {
  std::vector<std::chrono::milliseconds> waits;
  results_on(2, options, {.wrap = [&](Communicator& inner) { return std::make_unique<Watched>(inner, waits); }});
  EXPECT_FALSE(waits.empty());
  return std::ranges::count_if(waits, [&](std::chrono::milliseconds wait) { return wait > limit; });
}

// Ranks that skip into compressed shards call one another instead (skip_to_cursors()).
TEST_P(Resume, DoesNotWaitLongerForARankThatSkipsToItsCursors) {
  ResumedJob job = this->job();
  job.run_until(2, {.call = 4});
  // Removing old checkpoints is part of writing one, and lengthens it once more.
  const auto limit = kStallTimeout + 2 * timeout_for_disks(job.options.model);
  EXPECT_EQ(count_longer_waits(job.resumable(), limit), 0);
}

TEST_P(Resume, WithMorePassesTrainsThose) {
  ResumedJob twice = this->job();
  twice.options.test.clear();
  ResumedJob job = this->job();
  job.options.test.clear();
  job.finish(2);
  job.options.passes = 2;
  const Outcome more = job.finish(2);
  EXPECT_EQ(more.train.examples, 4200U) << "it is the same run";
  if (GetParam() == Placement::kPartitioned) {
    twice.options.passes = 2;
    const Outcome expected = twice.straight(2);
    EXPECT_EQ(more.tree, expected.tree);
    EXPECT_EQ(more.weights, expected.weights);
    expect_same_losses(more.train, expected.train);
  }
}

TEST_P(Resume, OfAnUnfinishedRunLearnsNewShardsAfterThose) {
  ResumedJob job = this->job();
  job.options.test.clear();
  job.run_until(2, {.call = 4});
  job.add_shard("more", random_lines(lines(9, 333, 100)));
  EXPECT_EQ(job.finish(2).train.examples, 2433U);
}

TEST_P(Resume, RefusesShardsThatAreNotThose) {
  const auto refusal = [&](const std::string& content) {
    ResumedJob job = this->job();
    job.run_until(2, {.call = 4});
    std::ofstream(job.options.data[1], std::ios::binary) << content;
    const std::vector<Ending> endings = train_on(2, job.resumable());
    EXPECT_EQ(endings[0].fault, Fault::kBadData);
    EXPECT_THAT(endings[1].error, HasSubstr(job.options.data[1]));
    return endings[0].error;
  };
  const std::string original = random_lines(lines(2, 400, 20));
  EXPECT_THAT(refusal(original + "a |f g\n"), HasSubstr("has grown"));
  EXPECT_THAT(refusal(original.substr(0, original.size() / 2)), HasSubstr("has changed"));
  std::string other = original;
  other[0] ^= 1;
  EXPECT_THAT(refusal(other), HasSubstr("begins with other bytes"));
}

TEST_P(Resume, RefusesToGoOnWithoutAShardThatIsNotDone) {
  ResumedJob job = this->job();
  job.run_until(2, {.call = 4});
  TrainingOptions options = job.resumable();
  options.data.pop_back();
  for (const Ending& ending : train_on(2, options)) {
    EXPECT_EQ(ending.fault, Fault::kNoInput);
    EXPECT_THAT(ending.error, HasSubstr(job.options.data.back() + ": is not among the shards that are given now"));
  }
}

TEST_P(Resume, KeepsSoManyCheckpoints) {
  for (const std::uint64_t keep : std::vector<std::uint64_t>{1, 3}) {
    ResumedJob job = this->job();
    job.options.checkpoints.every_examples = 100;
    job.options.checkpoints.keep = keep;
    job.finish(2);
    EXPECT_EQ(Checkpoints(job.checkpoints()).list().size(), keep);
  }
}

// Removing large checkpoints takes longer than a message.
TEST_P(Resume, OfAFinishedRunWaitsLongerWhilePruning) {
  ResumedJob job = this->job();
  job.options.checkpoints.keep = 3;
  job.options.checkpoints.every_examples = 100;
  job.finish(2);
  job.options.checkpoints.keep = 1;
  EXPECT_EQ(count_longer_waits(job.resumable(), kStallTimeout), 1);
  EXPECT_EQ(Checkpoints(job.checkpoints()).list().size(), 1U);
}

TEST_P(Resume, IsImpossibleWhereNothingIsKept) {
  ResumedJob job = this->job();
  job.options.checkpoints.keep = 0;
  TrainingOptions options = job.options;
  options.checkpoints.directory = job.checkpoints();
  Staging staging;
  staging.options_of = [](int, TrainingOptions& with) { with.checkpoints.requested = [] { return Request::kStop; }; };
  for (const Ending& ending : train_on(2, options, staging)) {
    EXPECT_EQ(ending.fault, Fault::kFailed);
    EXPECT_THAT(ending.error, HasSubstr("nothing is kept: this run writes no checkpoints"));
  }
  EXPECT_FALSE(std::filesystem::exists(job.checkpoints()));
}

TEST_P(Resume, NeedsADirectory) {
  ResumedJob job = this->job();
  TrainingOptions options = job.options;
  options.resume = true;
  for (const int ranks : {1, 2}) {
    for (const Ending& ending : train_on(ranks, options)) {
      EXPECT_EQ(ending.fault, Fault::kUsage);
      EXPECT_THAT(ending.error, HasSubstr("--resume needs a directory of checkpoints"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Placements, Resume,
                         ::testing::Values(Placement::kPartitioned, Placement::kReplicated, Placement::kHybrid),
                         name_of_placement);

}  // namespace
}  // namespace cpt
