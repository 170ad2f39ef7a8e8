// Training on N ranks against the literal protocol: every loss, every weight and every label's place, bit for bit.
#include <gtest/gtest.h>

#include "data/pipeline/example_stream.h"
#include "data/shards/shards.h"
#include "train/job.h"
#include "train/replicated/literal_replicas.h"

namespace cpt {
namespace {

// The examples of each rank in the order in which it reads them. The real thing cuts them into chunks of 1024 as well,
// so fewer must do.
std::vector<Batch> parts_of(const std::vector<std::string>& paths, int ranks) {
  const std::vector<Shard> shards = find_shards(paths);
  std::vector<Batch> parts;
  for (const std::vector<std::uint32_t>& mine : assign_shards(shards, ranks)) {
    ExampleStream stream(shards, mine, {});
    parts.push_back(stream.make_batch());
    while (stream.read(parts.back())) {
    }
    EXPECT_LT(parts.back().size(), 1024U);
  }
  return parts;
}

class ReplicatedLosses : public ::testing::TestWithParam<int> {
 protected:
  void expect_as_literally(TrainingOptions options) const {
    if (options.data.empty()) options.data = {shard_[0], shard_[1], shard_[2], shard_[3]};
    options.test = {test_};
    options.model.calibrate = false;  // the twin merges rows only
    LiteralReplicas literal(GetParam(), options);
    for (std::uint32_t pass = 0; pass < options.passes; ++pass)
      literal.run_pass(parts_of(options.data, GetParam()), true);
    const Losses train = literal.take_losses();
    literal.run_pass(parts_of(options.test, GetParam()), !options.test_frozen);
    const Losses test = literal.take_losses();

    const std::vector<TrainingResult> results = results_on(GetParam(), options);
    for (const TrainingResult& result : results) {
      expect_same_losses(result.summary.train, train);
      expect_same_losses(result.summary.test, test);
      EXPECT_EQ(result.summary.rounds, literal.rounds());
      EXPECT_EQ(result.summary.sync_points, literal.sync_points());
      const Learner& learner = literal.replica(0).learner;
      EXPECT_EQ(digests_of(result.model), (Digests{learner.structure_digest(), learner.weights().digest()}));
    }
    EXPECT_GT(train.new_labels, results[0].model.learner().tree().labels() / 2);
    EXPECT_GT(train.brier_samples, 0U);
  }

  Folder folder_;
  // In sizes that leave ranks without examples before others.
  std::string shard_[4] = {folder_.write("a", random_lines({.seed = 1, .examples = 350})),
                           folder_.write("b", random_lines({.seed = 2, .examples = 350})),
                           folder_.write("c", random_lines({.seed = 3, .examples = 200, .first_label = 30})),
                           folder_.write("d", random_lines({.seed = 4, .examples = 90, .first_label = 60}))};
  std::string test_ =
      folder_.write("test", random_lines({.seed = 5, .examples = 150, .labels = 30, .first_label = 100}));
};
INSTANTIATE_TEST_SUITE_P(Ranks, ReplicatedLosses, ::testing::Values(2, 3, 4, 6));

// Intervals must be of 1000 examples at least. With few labels, and so few rows, they end by cost before the examples
// have doubled, from the second pass on.
TEST_P(ReplicatedLosses, WithTheDefaultInterval) {
  TrainingOptions options = small_job();
  options.sync_examples = 0;
  options.passes = 3;
  for (int rank = 0; rank < GetParam(); ++rank) {
    options.data.push_back(
        folder_.write("long" + std::to_string(rank),
                      random_lines({.seed = 10U + static_cast<unsigned>(rank), .examples = 1020, .labels = 15})));
  }
  expect_as_literally(options);
  EXPECT_GT(results_on(GetParam(), options)[0].summary.sync_points, 2 * options.passes);
}

TEST_P(ReplicatedLosses, WithIntervalsByFraction) {
  TrainingOptions options = small_job();
  options.sync_examples = 0;
  options.sync_fraction = 0.02;
  options.passes = 2;
  expect_as_literally(options);
}

TEST_P(ReplicatedLosses, WithShortIntervalsOfAllRules) {
  for (const MergeRule merge : {MergeRule::kAverage, MergeRule::kConfidence, MergeRule::kContraction}) {
    TrainingOptions options = small_job();
    options.merge = merge;
    options.sync_examples = 70;
    expect_as_literally(options);
  }
}

TEST_P(ReplicatedLosses, WithOtherOptions) {
  TrainingOptions sgd = small_job();
  sgd.model.loss = Loss::kSquared;
  sgd.model.update = Update::kSgd;
  sgd.model.learning_rate = 0.3;
  TrainingOptions random_tree = small_job();
  random_tree.model.tree = TreeKind::kRandom;
  random_tree.model.bits = 10;  // a full table
  TrainingOptions frozen = small_job();
  frozen.test_frozen = true;
  for (const TrainingOptions& options : {sgd, random_tree, frozen}) expect_as_literally(options);
}

// By hand: a label counts as new once on each rank that first meets it in the round, and as seen ever after.
TEST(NewLabels, CountAsNewOnEachRankThatMeetsThemInTheRound) {
  const Folder folder;
  TrainingOptions options = small_job();
  // Rounds are of four examples; in the first, "a" is new on both ranks and "b" on the second one only.
  options.data = {folder.write("first", "a | x\na | y\na | x\na | y\nb | x\n"),
                  folder.write("second", "b | x\na | y\nb | x\na | y\na | x\n")};
  const Summary summary = results_on(2, options)[0].summary;
  EXPECT_EQ(summary.train.examples, 10U);
  EXPECT_EQ(summary.train.new_labels, 3U);
  EXPECT_EQ(summary.train.seen_weight, 7);
  EXPECT_EQ(summary.tree.labels, 2U);
  // The new ones have P = 0.
  EXPECT_NEAR(summary.train.squared - summary.train.squared_seen, 3, 1e-9);
}

}  // namespace
}  // namespace cpt
