// A model of several trees is the mean of models of one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cpt/error.h"
#include "model/trained_model.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

ModelOptions options_of(int trees, int arity = 2) {
  ModelOptions options;
  options.bits = 20;  // rows enough for each feature and block
  options.trees = trees;
  if (arity > 2) options.method = Method::kConditionalPecoc;
  options.arity = arity;
  return options;
}

class SeveralTrees : public ::testing::TestWithParam<int> {  // the arity
 protected:
  ModelOptions options(int trees) const { return options_of(trees, GetParam()); }
  static constexpr StreamShape kShape{.seed = 5, .examples = 1500, .labels = 120, .binary = false};
  TrainedModel model_{options(3), kShape};
  const Learner& learner() const { return model_.learner; }
};
INSTANTIATE_TEST_SUITE_P(Arity, SeveralTrees, ::testing::Values(2, 4));

// Different keys of blocks let other features share rows: there are none that do here.
TEST_P(SeveralTrees, AreTheMeanOfEachAlone) {
  std::vector<double> mean(learner().labels().size());
  std::uint32_t disagreements = 0;
  const ExampleView x = model_.example(17);
  for (std::size_t t = 0; t < 3; ++t) {
    const TrainedModel alone(options(3).of_tree(t), kShape);
    for (LabelId label = 0; label < mean.size(); ++label) {
      ASSERT_EQ(learner().tree(t).split_for(label), alone.learner.tree().split_for(label));
    }
    const std::vector<double> one = alone.learner.all_probabilities(x);
    for (std::size_t label = 0; label < mean.size(); ++label) mean[label] += one[label] / 3;
    disagreements += static_cast<std::uint32_t>(alone.learner.disagreements());
  }
  EXPECT_EQ(learner().disagreements(), disagreements);
  const std::vector<double> all = learner().all_probabilities(x);
  for (std::size_t label = 0; label < mean.size(); ++label) EXPECT_NEAR(all[label], mean[label], 1e-6) << label;
}

TEST_P(SeveralTrees, GrowDifferentlyAndByTheRule) {
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_EQ(find_invariant_violation(learner().tree(t), options(3).of_tree(t)), "");
    for (std::size_t other = 0; other < t; ++other) {
      EXPECT_NE(learner().tree(t).growth_digest(), learner().tree(other).growth_digest());
    }
  }
}

TEST_P(SeveralTrees, GiveAllLabelsTheProbabilityThatEachIsPredicted) {
  PathState path_state;
  for (std::size_t i = 0; i < 20; ++i) {
    const ExampleView x = model_.example(71 * i);
    const std::vector<double> all = learner().all_probabilities(x);
    double sum = 0;
    for (LabelId label = 0; label < all.size(); ++label) {
      learner().locate(x, label, path_state);
      EXPECT_NEAR(learner().predict(path_state), all[label], 1e-15);
      sum += all[label];
    }
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

// To the last bit, for one tree, too.
TEST_P(SeveralTrees, GiveSomeLabelsTheProbabilityThatEachIsPredicted) {
  PathState path_state;
  for (const int trees : {1, 2}) {
    for (const bool calibrate : {true, false}) {
      ModelOptions of_model = options(trees);
      of_model.calibrate = calibrate;
      const TrainedModel model(of_model, kShape);
      for (std::size_t i = 0; i < 10; ++i) {
        const ExampleView x = model.example(71 * i);
        std::vector<LabelId> labels{3, 3};
        for (std::size_t label = kShape.labels; label-- > i;) labels.push_back(static_cast<LabelId>(label));
        const std::vector<double> some = model.learner.probabilities(x, labels);
        ASSERT_EQ(some.size(), labels.size());
        for (std::size_t k = 0; k < labels.size(); ++k) {
          model.learner.locate(x, labels[k], path_state);
          EXPECT_EQ(some[k], model.learner.predict(path_state)) << labels[k];
        }
        EXPECT_TRUE(model.learner.probabilities(x, {}).empty());
      }
    }
  }
}

TEST_P(SeveralTrees, FindTheBestOfTheMean) {
  for (std::size_t i = 0; i < 50; ++i) {
    const ExampleView x = model_.example(31 * i);
    const std::vector<double> all = learner().all_probabilities(x);
    std::vector<double> sorted = all;
    std::ranges::sort(sorted, std::greater());
    for (const std::size_t k : {std::size_t{1}, std::size_t{7}, all.size(), all.size() + 5}) {
      const std::vector<Ranked> best = learner().top_k(x, k);
      ASSERT_EQ(best.size(), std::min(k, all.size()));
      for (std::size_t rank = 0; rank < best.size(); ++rank) {
        EXPECT_NEAR(best[rank].probability, sorted[rank], 1e-15);
        EXPECT_NEAR(best[rank].probability, all[best[rank].label], 1e-15);
      }
    }
    // Between two neighbours, so that rounding decides nothing.
    const std::vector<Ranked> above = learner().top_k(x, all.size(), (sorted[9] + sorted[10]) / 2);
    ASSERT_EQ(above.size(), 10U);
    for (std::size_t rank = 0; rank < above.size(); ++rank) {
      EXPECT_NEAR(above[rank].probability, sorted[rank], 1e-15);
      EXPECT_NEAR(above[rank].probability, all[above[rank].label], 1e-15);
    }
  }
}

TEST_P(SeveralTrees, DrawFromEachTree) {
  const ExampleView x = model_.example(3);
  const std::vector<double> all = learner().all_probabilities(x);
  const auto own = static_cast<LabelId>(std::ranges::max_element(all) - all.begin());
  double squares = 0;
  for (LabelId label = 0; label < all.size(); ++label) squares += label == own ? 0 : all[label] * all[label];
  constexpr int kDraws = 20'000;
  double sum = 0;
  double sum_of_squares = 0;
  Dice dice(7);
  for (int i = 0; i < kDraws; ++i) {
    const std::vector<Ranked> drawn = learner().draw(x, dice.bits());
    ASSERT_EQ(drawn.size(), 3U);
    const double estimate = other_squares(drawn, own);
    sum += estimate;
    sum_of_squares += estimate * estimate;
  }
  const double mean = sum / kDraws;
  const double deviation = std::sqrt((sum_of_squares / kDraws - mean * mean) / kDraws);
  EXPECT_NEAR(mean, squares, 5 * deviation);
  EXPECT_LT(deviation, 0.1 * squares);  // so that the test can fail
}

TEST(OptionsOfSeveralTrees, LowerAlphaFromTreeToTree) {
  const ModelOptions options = options_of(3);
  EXPECT_EQ(options.of_tree(0).alpha, 0.9);
  EXPECT_DOUBLE_EQ(options.of_tree(1).alpha, 0.8);
  EXPECT_DOUBLE_EQ(options.of_tree(2).alpha, 0.7);
  EXPECT_GT(options_of(kMostTrees).of_tree(kMostTrees - 1).alpha, 0.1);
}

TEST(OptionsOfSeveralTrees, AreRefusedWhereTreesWouldBeEqual) {
  for (const TreeKind tree : {TreeKind::kBalanced, TreeKind::kGiven}) {
    ModelOptions options = options_of(2);
    options.tree = tree;
    EXPECT_THROW(options.validate(), Error);
  }
  ModelOptions flat = options_of(2);
  flat.method = Method::kOneAgainstAll;
  EXPECT_THROW(flat.validate(), Error);
  EXPECT_THROW(options_of(kMostTrees + 1).validate(), Error);
  EXPECT_THROW(options_of(0).validate(), Error);
}

}  // namespace
}  // namespace cpt
