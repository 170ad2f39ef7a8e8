// What the observer hears by the clock, and that the clock changes no result.
#include <gtest/gtest.h>

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

 private:
  Folder folder_;
};
INSTANTIATE_TEST_SUITE_P(, StretchTest,
                         ::testing::Values(Placement::kPartitioned, Placement::kHybrid, Placement::kReplicated),
                         name_of_placement);

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
      before = stretch;
    }
    EXPECT_GT(losses[0].examples, 0U);
    EXPECT_LE(losses[0].examples, results[0].summary.train.examples);
    EXPECT_LE(losses[1].examples, results[0].summary.test.examples);
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
