// One rank is Algorithm 2: train() against a naive loop over the public Model, and against losses added up by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "cpt/hashing.h"
#include "data/pipeline/example_stream.h"
#include "data/shards/shards.h"
#include "model/learning/learner.h"
#include "model/learning/losses.h"
#include "train/job.h"

namespace cpt {
namespace {

Batch interleaved(const std::vector<std::string>& paths) {
  const std::vector<Shard> shards = find_shards(paths);
  ExampleStream stream(shards, assign_shards(shards, 1)[0], {});
  Batch batch = stream.make_batch();
  while (stream.read(batch)) {
  }
  return batch;
}

// Counts an example that `model` is about to learn.
void count(const Model& model, const ExampleView& x, Losses& losses) {
  const Learner& learner = model.learner();
  const LabelId label = learner.find(x);
  const double h = x.importance;
  const double p = model.probability(x, x.label);
  const double log_loss = h * -std::log(std::max(p, 1e-6));
  ++losses.examples;
  losses.weight += h;
  losses.weight_squares += h * h;
  losses.squared += h * (1 - p) * (1 - p);
  losses.log += log_loss;
  if (label == kNoLabel) {
    ++losses.new_labels;
    return;
  }
  losses.seen_weight += h;
  losses.squared_seen += h * (1 - p) * (1 - p);
  losses.log_seen += log_loss;
  if (!is_sampled(losses.examples)) return;
  const std::uint64_t coins = mix(learner.options().seed ^ mix(losses.examples));
  const Ranked drawn = learner.draw(x, coins).front();
  ++losses.brier_samples;
  losses.brier_weight += 64 * h;
  losses.other_squares += drawn.label == label ? 0 : 64 * h * drawn.probability;
  const std::vector<double> all = learner.all_probabilities(x);
  const auto best = std::ranges::max_element(all);  // the lowest id of equal ones
  const bool right = *best >= kLeastTop1 && best - all.begin() == static_cast<std::ptrdiff_t>(label);
  ++losses.top1_samples;
  losses.top1_weight += 64 * h;
  losses.top1_weight_squares += 64 * h / 0x1p22 * 64 * h / 0x1p22;
  losses.top1_error += right ? 0 : 64 * h;
}

class OneRank : public ::testing::Test {
 protected:
  OneRank() {
    options_.data = {folder_.write("a", random_lines({.seed = 1, .examples = 700, .labels = 120})),
                     folder_.write("b", random_lines({.seed = 2, .examples = 500, .labels = 90, .first_label = 60})),
                     folder_.write("c", random_lines({.seed = 3, .examples = 900, .labels = 120}))};
    options_.test = {folder_.write("t", random_lines({.seed = 4, .examples = 300, .labels = 80, .first_label = 100}))};
  }

  TrainedModel run() { return train(options_, recorder_); }

  // Learns everything with a Model of its own and compares.
  void expect_as_naively() {
    Model model(options_.model);
    Losses train_losses;
    for (std::uint32_t pass = 0; pass < options_.passes; ++pass) learn(model, options_.data, train_losses);
    Losses test_losses;
    learn(model, options_.test, test_losses);
    const TrainedModel result = run();
    EXPECT_EQ(digests_of(result.model), digests_of(model));
    expect_same_losses(result.summary.train, train_losses);
    expect_same_losses(result.summary.test, test_losses);
    EXPECT_EQ(result.summary.rounds, train_losses.examples + test_losses.examples);
  }

  static void learn(Model& model, const std::vector<std::string>& paths, Losses& losses) {
    const Batch batch = interleaved(paths);
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const double p = model.probability(batch[i], batch[i].label);
      count(model, batch[i], losses);
      EXPECT_EQ(model.learn(batch[i]), p);
    }
  }

  Folder folder_;
  TrainingOptions options_ = small_job();
  Recorder recorder_;
};

// A Model counts examples, not positions in shards, until it renews the rarities of features.
TEST_F(OneRank, IsANaiveLoop) {
  options_.model.rarity = false;
  expect_as_naively();
}

TEST_F(OneRank, IsANaiveLoopOverASingleShard) {
  options_.data.resize(1);
  options_.passes = 3;
  expect_as_naively();
}

TEST_F(OneRank, IsANaiveLoopInSeveralPasses) {
  options_.model.rarity = false;
  options_.passes = 3;
  expect_as_naively();
}

TEST_F(OneRank, IsANaiveLoopWithOtherOptions) {
  options_.model.loss = Loss::kSquared;
  options_.model.update = Update::kSgd;
  options_.model.learning_rate = 0.2;
  options_.model.clip = 0;
  options_.model.tree = TreeKind::kRandom;
  options_.model.bits = 11;
  expect_as_naively();
}

TEST_F(OneRank, DoesNotDependOnTheMerge) {
  const Digests digests = digests_of(run().model);
  options_.merge = MergeRule::kAverage;
  options_.sync_examples = 10;
  EXPECT_EQ(digests_of(run().model), digests);
}

TEST_F(OneRank, IsTheSameAsOneThreadOfARankGroup) {
  const TrainedModel alone = run();
  const TrainingResult thread = std::move(results_on(1, options_)[0]);
  EXPECT_EQ(digests_of(thread.model), digests_of(alone.model));
  expect_same_losses(thread.summary.train, alone.summary.train);
}

TEST_F(OneRank, FrozenTestChangesNothingAndGivesUnknownLabelsZero) {
  const std::vector<std::string> test = std::exchange(options_.test, {});
  const TrainedModel before = run();
  EXPECT_FALSE(before.summary.tested);
  options_.test = test;
  options_.test_frozen = true;
  const TrainedModel after = run();
  EXPECT_TRUE(after.summary.tested);
  EXPECT_EQ(digests_of(after.model), digests_of(before.model));
  EXPECT_EQ(after.model.labels(), before.model.labels());

  const Batch batch = interleaved(test);
  Losses losses;
  std::uint64_t unknown = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (before.model.learner().find(batch[i]) == kNoLabel) ++unknown;
    count(before.model, batch[i], losses);
  }
  EXPECT_GT(unknown, 0U);
  EXPECT_EQ(after.summary.test.new_labels, unknown);
  expect_same_losses(after.summary.test, losses);
}

TEST_F(OneRank, ReportsAtPowersOfTwoAndAtTheEndOfEachPass) {
  options_.passes = 2;
  run();
  std::vector<std::uint64_t> train;
  std::vector<std::uint64_t> test;
  for (const Report& report : recorder_.reports) {
    (report.phase == Phase::kTrain ? train : test).push_back(report.so_far.examples);
  }
  EXPECT_EQ(train, (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 2100, 4096, 4200}));
  EXPECT_EQ(test, (std::vector<std::uint64_t>{1, 2, 4, 8, 16, 32, 64, 128, 256, 300}));
  EXPECT_EQ(recorder_.reports[12].pass, 1U);
  EXPECT_EQ(recorder_.reports[13].pass, 2U);
  EXPECT_EQ(recorder_.reports[13].since_last.examples, 4096U - 2100U);
  EXPECT_EQ(recorder_.reports.back().pass, 0U);
}

TEST_F(OneRank, SummarySaysWhatTheModelIs) {
  const TrainedModel result = run();
  EXPECT_EQ(result.summary.ranks, 1);
  EXPECT_EQ(result.summary.tree.labels, result.model.labels());
  EXPECT_EQ(result.summary.tree.digest, digests_of(result.model).structure);
  EXPECT_EQ(result.summary.weight_digest, digests_of(result.model).weights);
  EXPECT_EQ(result.summary.weight_bytes, std::uint64_t{64} << options_.model.bits);
  EXPECT_LE(result.summary.tree.depth_max, result.summary.tree.depth_bound);
  EXPECT_LE(result.summary.tree.depth_mean, result.summary.tree.depth_max);
  EXPECT_EQ(result.summary.train.examples, 2100U);
  EXPECT_EQ(result.summary.bytes_sent, 0U);
}

}  // namespace
}  // namespace cpt
