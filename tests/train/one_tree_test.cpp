// Replicas, whatever their number and wherever labels turn up: one tree with every label once, one set of weights.
#include <gmock/gmock.h>

#include "model/learning/learner.h"
#include "model/tree/bounds.h"
#include "train/job.h"

namespace cpt {
namespace {

using Shards = std::vector<std::string>;

// Asserts that ranks have the same tree and, where each has all weights, the same weights.
void expect_alike(const TrainingResult& a, const TrainingResult& b) {
  EXPECT_EQ(a.summary.tree.digest, b.summary.tree.digest);
  EXPECT_EQ(a.summary.weight_digest, b.summary.weight_digest);
  EXPECT_EQ(digests_of(a.model).structure, digests_of(b.model).structure);
  if (a.model.is_whole()) {
    EXPECT_EQ(digests_of(a.model), digests_of(b.model));
  }
  expect_same_losses(a.summary.train, b.summary.train);
}

// Asserts what must hold after training on these shards.
void expect_one_tree(int ranks, TrainingOptions options, const Shards& shards) {
  SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(shards.size()) + " shards");
  const Folder folder;
  std::set<std::string> labels;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    options.data.push_back(folder.write("shard" + std::to_string(i), shards[i]));
    labels.merge(labels_of(shards[i]));
  }
  const std::vector<TrainingResult> results = results_on(ranks, options);
  const Learner& learner = results[0].model.learner();
  for (std::size_t t = 0; t < learner.trees().size(); ++t) {
    EXPECT_EQ(find_invariant_violation(learner.tree(t), options.model.of_tree(t)), "");
  }
  EXPECT_EQ(learner.tree().labels(), labels.size());
  EXPECT_EQ(labels_in(learner), labels);
  for (const TrainingResult& result : results) expect_alike(result, results[0]);
}

// The same new labels at the same places of all shards.
Shards even_shards(std::size_t count, std::size_t examples = 300) {
  Shards shards;
  for (std::size_t i = 0; i < count; ++i) shards.push_back(random_lines({.seed = i + 1, .examples = examples}));
  return shards;
}

// Owners leave the tree and the weights of one rank (partitioned/partitioned_test.cpp).
class OneTree : public ::testing::TestWithParam<int> {
 protected:
  int ranks() const { return GetParam(); }
  TrainingOptions job() const { return small_job(); }
};
INSTANTIATE_TEST_SUITE_P(Ranks, OneTree, ::testing::Values(1, 2, 3, 5, 8));

TEST_P(OneTree, WithOtherOptions) {
  const auto expect_with = [this](auto change) {
    TrainingOptions options = job();
    change(options);
    expect_one_tree(ranks(), options, even_shards(8, 150));
  };
  for (const Loss loss : {Loss::kSquared, Loss::kLogistic}) {
    for (const TreeKind tree : {TreeKind::kOnline, TreeKind::kBalanced, TreeKind::kRandom})
      expect_with([&](TrainingOptions& options) { options.model.loss = loss, options.model.tree = tree; });
  }
  expect_with([](TrainingOptions& options) { options.model.trees = 2; });
  for (const MergeRule merge : {MergeRule::kAverage, MergeRule::kConfidence, MergeRule::kContraction}) {
    for (const Update update : {Update::kAdaptive, Update::kSgd}) {
      expect_with([&](TrainingOptions& options) {
        options.merge = merge;
        options.model.update = update;
        options.model.learning_rate = 0.3;
      });
    }
  }
}

TEST_P(OneTree, WithUnevenAndEmptyShards) {
  expect_one_tree(
      ranks(), job(),
      {random_lines({.seed = 1, .examples = 700}), "", random_lines({.seed = 2, .examples = 3, .labels = 3}), "",
       "\n\n", random_lines({.seed = 3, .examples = 120, .labels = 30, .first_label = 40}),
       random_lines({.seed = 4, .examples = 1, .labels = 1, .first_label = 1000})});
}

TEST_P(OneTree, WithFewerShardsThanRanks) {
  expect_one_tree(ranks(), job(), {random_lines({.examples = 500})});
  expect_one_tree(ranks(), job(), even_shards(2));
}

TEST_P(OneTree, IsNoneWithoutAnyExample) {
  const Folder folder;
  TrainingOptions options = job();
  options.data = {folder.write("empty", ""), folder.write("blank", "\n")};
  for (const Ending& ending : train_on(ranks(), options)) {
    EXPECT_EQ(ending.fault, Fault::kBadData);
    EXPECT_THAT(ending.error, ::testing::HasSubstr("the shards of --data have no example"));
  }
}

TEST_P(OneTree, WithASingleLabel) {
  expect_one_tree(ranks(), job(), {"only | a\nonly | b\n", "only | a b\n", "only | c\n"});
}

TEST_P(OneTree, InEveryPassAndInTheTestPart) {
  const Folder folder;
  TrainingOptions options = job();
  options.passes = 3;
  for (const std::string& shard : even_shards(4, 100)) {
    options.data.push_back(folder.write("shard" + std::to_string(options.data.size()), shard));
  }
  options.test.push_back(
      folder.write("test", random_lines({.seed = 9, .examples = 80, .labels = 40, .first_label = 50})));
  const std::vector<TrainingResult> results = results_on(ranks(), options);
  EXPECT_EQ(results[0].model.learner().tree().labels(), 90U);  // 60, and 30 that only the test part has
  EXPECT_EQ(results[0].summary.train.examples, 3U * 400);
  EXPECT_EQ(results[0].summary.test.examples, 80U);
  EXPECT_GE(results[0].summary.test.new_labels, 30U);
  for (const TrainingResult& result : results) expect_alike(result, results[0]);
}

TEST(OneTreeOfManyRanks, WithATinyStream) {
  for (const int bits : {10, 12}) {
    TrainingOptions options = small_job();
    options.model.bits = bits;
    options.sync_examples = 400;
    Shards shards;
    for (std::size_t i = 0; i < 64; ++i) shards.push_back(random_lines({.seed = i, .examples = 10, .labels = 8}));
    for (const Placement placement : {Placement::kPartitioned, Placement::kReplicated}) {
      options.placement = placement;
      expect_one_tree(64, options, shards);
    }
  }
}

}  // namespace
}  // namespace cpt
