// Hybrid placement: every rank has a copy of the top blocks. One tree on all ranks, weights that repeat, losses near
// those of one rank.
#include <gtest/gtest.h>

#include <set>

#include "cpt/model.h"
#include "train/partitioned/partitioned_job.h"

namespace cpt {
namespace {

class Hybrid : public ::testing::TestWithParam<int> {
 protected:
  Hybrid() {
    options_.placement = Placement::kHybrid;
    options_.model.bits = 16;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      options_.data.push_back(folder_.write(
          "shard" + std::to_string(seed),
          random_lines({.seed = seed, .examples = 400 + 50 * seed, .labels = 120, .first_label = 3 * seed})));
    }
    options_.test = {folder_.write("test", random_lines({.seed = 9, .examples = 300, .labels = 140}))};
  }

  int ranks() const { return GetParam(); }

  Folder folder_;
  TrainingOptions options_ = small_job();
};
INSTANTIATE_TEST_SUITE_P(, Hybrid, ::testing::Values(2, 3, 5, 8), ::testing::PrintToStringParamName());

TEST_P(Hybrid, LearnsAllExamplesAndLabelsOnce) {
  const Outcome one = outcome_on(1, options_);
  const Outcome outcome = outcome_on(ranks(), options_);
  EXPECT_EQ(outcome.train.examples, one.train.examples);
  EXPECT_EQ(outcome.train.new_labels, one.train.new_labels);
  EXPECT_EQ(outcome.train.weight, one.train.weight);
  EXPECT_EQ(outcome.test.examples, one.test.examples);
  EXPECT_EQ(outcome.test.new_labels, one.test.new_labels);
  EXPECT_EQ(outcome.reports.back().labels, one.reports.back().labels);
}

TEST_P(Hybrid, StaysNearOneRank) {
  const Outcome one = outcome_on(1, options_);
  const Outcome outcome = outcome_on(ranks(), options_);
  EXPECT_NEAR(outcome.train.mean_log_seen(), one.train.mean_log_seen(), 0.1 * one.train.mean_log_seen());
  EXPECT_NEAR(outcome.test.mean_log_seen(), one.test.mean_log_seen(), 0.1 * one.test.mean_log_seen());
  EXPECT_NE(outcome.weights, one.weights);
}

TEST_P(Hybrid, RepeatsWithSeveralTreesAndWaysWhereverRanksRun) {
  options_.model.trees = 2;
  const Outcome outcome = outcome_on(ranks(), options_);
  expect_same(outcome_on(ranks(), options_), outcome);
  options_.model.trees = 1;
  options_.model.method = Method::kConditionalPecoc;
  options_.model.arity = 4;
  const Outcome of_ways = outcome_on(ranks(), options_);
  expect_same(outcome_on(ranks(), options_), of_ways);
}

TEST_P(Hybrid, MergesCopiesByTheRuleThatIsChosen) {
  std::set<std::uint64_t> weights;
  for (const MergeRule rule : {MergeRule::kAverage, MergeRule::kConfidence, MergeRule::kContraction}) {
    options_.merge = rule;
    weights.insert(outcome_on(ranks(), options_).weights);
  }
  EXPECT_EQ(weights.size(), 3U);
}

// The one before the merges, by ranks that have copies of what others have learned.
TEST_P(Hybrid, SavesTheModelThatTheRanksHave) {
  options_.model.trees = 2;
  const std::vector<TrainingResult> results = results_on(ranks(), options_, {.model = folder_ / "model"});
  const Model model = Model::load(folder_ / "model");
  EXPECT_EQ(digests_of(model).weights, results[0].summary.weight_digest);
  EXPECT_EQ(digests_of(model).structure, digests_of(results[0].model).structure);
  for (const TrainingResult& result : results) {
    for (std::size_t tree = 0; tree < 2; ++tree) {
      const Partition root = root_partition(tree);
      EXPECT_EQ(result.model.learner().weights().survey(root).digest, model.learner().weights().survey(root).digest);
      EXPECT_EQ(result.model.learner().weights().calibrators().digest(root),
                model.learner().weights().calibrators().digest(root));
    }
  }
}

TEST_P(Hybrid, PredictsWithoutLearning) {
  options_.test_frozen = true;
  const std::vector<TrainingResult> results = results_on(ranks(), options_, {.model = folder_ / "model"});
  TrainingOptions alone = options_;
  alone.init = folder_ / "model";
  alone.data.clear();
  const Outcome outcome = outcome_on(1, alone);
  EXPECT_EQ(outcome.test.squared, results[0].summary.test.squared);
  EXPECT_EQ(outcome.test.log_seen, results[0].summary.test.log_seen);
}

}  // namespace
}  // namespace cpt
