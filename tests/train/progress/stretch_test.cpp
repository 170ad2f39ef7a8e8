// What the observer hears by the clock, and that the clock changes no result.
#include <gtest/gtest.h>

#include <atomic>

#include "api/checkpoint/checkpoint_reader.h"
#include "store/run/checkpoints.h"
#include "train/job.h"

namespace cpt {
namespace {

class StretchRecorder : public Recorder {
 public:
  void stretch(const Stretch& stretch) override { stretches.push_back(stretch); }
  std::vector<Stretch> stretches;
};

class StretchTest : public ::testing::TestWithParam<Placement> {
 protected:
  TrainingOptions job(std::size_t examples_of_shard = 120) const {
    TrainingOptions options = small_job();
    options.placement = GetParam();
    options.passes = 2;
    options.test = {folder_.write("test", random_lines({.seed = 9, .examples = 60, .labels = 20}))};
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const std::string lines = random_lines({.seed = seed, .examples = examples_of_shard, .labels = 20});
      options.data.push_back(folder_.write(std::to_string(seed), lines));
    }
    return options;
  }

  Folder folder_;
};
INSTANTIATE_TEST_SUITE_P(, StretchTest,
                         ::testing::Values(Placement::kPartitioned, Placement::kHybrid, Placement::kReplicated),
                         name_of_placement);

// The seconds left at the pace of the latest stretch, whose pass began, or was at its end before, at this part.
void expect_seconds_left(const Stretch& stretch, double part_before) {
  const double part = stretch.part_of_pass - part_before;
  if (part_before < 0 || part == 0) {
    EXPECT_EQ(stretch.seconds_left, -1);
    return;
  }
  EXPECT_GE(stretch.seconds_left, 0);
  // The first stretch of a pass began before it.
  EXPECT_LE(stretch.seconds_left, stretch.duration * (1 - stretch.part_of_pass) / part * 1.001);
  if (part_before > 0) {
    EXPECT_GE(stretch.seconds_left, stretch.duration * (1 - stretch.part_of_pass) / part * 0.999);
  }
}

TEST_P(StretchTest, StretchesFollowOneAnother) {
  TrainingOptions options = job(2000);  // takes many milliseconds anywhere
  options.progress_every = std::chrono::milliseconds(1);
  for (const int ranks : {1, 3}) {
    StretchRecorder heard;
    const std::vector<TrainingResult> results = results_on(ranks, options, {.observer = &heard});
    Losses losses[2];
    Stretch before;
    for (const Stretch& stretch : heard.stretches) {
      Losses& so_far = losses[stretch.phase == Phase::kTest ? 1 : 0];
      so_far += stretch.losses;
      EXPECT_EQ(stretch.examples, so_far.examples);
      EXPECT_GT(stretch.duration, 0);
      EXPECT_GT(stretch.peak_bytes, 0U);
      EXPECT_LE(stretch.part_of_pass, 1);
      const bool same_pass = stretch.phase == before.phase && stretch.pass == before.pass;
      EXPECT_GE(stretch.part_of_pass, same_pass ? before.part_of_pass : 0);
      expect_seconds_left(stretch, same_pass ? before.part_of_pass : 0);
      before = stretch;
    }
    EXPECT_GT(losses[0].examples, 0U);
    EXPECT_LE(losses[0].examples, results[0].summary.train.examples);
    EXPECT_LE(losses[1].examples, results[0].summary.test.examples);
  }
}

// Compares seconds_left of each stretch with what is known of the part of the pass where it began. Ends the run by a
// request after the first validation if it is to stop.
class PaceRecorder : public Recorder {
 public:
  // Of a run that begins at the beginning, or in this pass.
  PaceRecorder() = default;
  explicit PaceRecorder(const ProgressState& resumed)
      : phase_(resumed.phase), pass_(resumed.pass), part_before_(-1), is_resumed_(true) {}

  void stretch(const Stretch& stretch) override {
    if (stretch.validates) {
      if (!validates_) part_before_ = 0;
    } else if (stretch.phase != phase_ || stretch.pass != pass_) {
      part_before_ = 0;
    }
    expect_seconds_left(stretch, part_before_);
    if (stretch.seconds_left >= 0) ++with_pace;
    if (part_before_ < 0) ++(is_resumed_ && validations == 0 ? first_after_resume : first_after_validation);
    validates_ = stretch.validates;
    part_before_ = stretch.part_of_pass;
    phase_ = stretch.phase;
    pass_ = stretch.pass;
  }
  void validated(const Validation&) override {
    ++validations;
    validates_ = false;
    part_before_ = -1;
  }

  std::atomic<int> validations = 0;
  int with_pace = 0;
  int first_after_resume = 0;
  int first_after_validation = 0;

 private:
  Phase phase_ = Phase::kTrain;
  std::uint32_t pass_ = 0;
  double part_before_ = 0;
  bool validates_ = false;
  bool is_resumed_ = false;
};

TEST_P(StretchTest, TheFirstAfterAResumeOrAValidationKnowsNoPace) {
  TrainingOptions options = job(4000);
  options.progress_every = std::chrono::milliseconds(1);
  options.validation.data = options.test;
  options.validation.every = 5000;
  options.checkpoints.directory = folder_ / "checkpoints";
  options.resume = true;
  for (const int ranks : {1, 2}) {
    std::filesystem::remove_all(options.checkpoints.directory);
    PaceRecorder stopped;
    Staging staging{.observer = &stopped};
    staging.options_of = [&](int rank, TrainingOptions& of_rank) {
      if (rank != 0) return;
      of_rank.checkpoints.requested = [&] { return stopped.validations > 0 ? Request::kStop : Request::kNone; };
    };
    for (const Ending& ending : train_on(ranks, options, staging)) EXPECT_EQ(ending.fault, Fault::kStopped);
    PaceRecorder resumed(read_run_state(Checkpoints(options.checkpoints.directory).list().back().directory).progress);
    results_on(ranks, options, {.observer = &resumed});
    EXPECT_EQ(resumed.first_after_resume, 1);
    EXPECT_GT(resumed.first_after_validation, 0);
    EXPECT_GT(stopped.with_pace, 0);
    EXPECT_GT(resumed.with_pace, 0);
  }
}

TEST_P(StretchTest, TheClockChangesNoResult) {
  TrainingOptions options = job(2000);
  const auto result = [&](int every) {
    options.progress_every = std::chrono::milliseconds(every);
    StretchRecorder recorder;
    const std::vector<TrainingResult> results = results_on(2, options, {.observer = &recorder});
    EXPECT_EQ(recorder.stretches.empty(), every == 0);
    return std::tuple(results[0].summary.tree.digest, results[0].summary.weight_digest, recorder.reports.size(),
                      recorder.reports.back().since_last.mean_log());
  };
  EXPECT_EQ(result(1), result(0));
}

using PartTest = StretchTest;
INSTANTIATE_TEST_SUITE_P(, PartTest, ::testing::Values(Placement::kPartitioned), name_of_placement);

class PartRecorder : public Recorder {
 public:
  void progress(std::uint64_t, double, double part_of_pass) override { parts.push_back(part_of_pass); }
  std::vector<double> parts;
};

// Also where rank 0, which tells of it, reads nothing.
TEST_P(PartTest, APassBeginsAtItsBeginning) {
  TrainingOptions options = job(20'000);  // more than is read ahead
  options.passes = 1;
  for (const int ranks : {1, 5}) {
    PartRecorder heard;
    results_on(ranks, options, {.observer = &heard});
    ASSERT_FALSE(heard.parts.empty());
    EXPECT_LT(heard.parts.front(), 1) << ranks;
    EXPECT_GE(heard.parts.front(), 0) << ranks;
  }
}

}  // namespace
}  // namespace cpt
