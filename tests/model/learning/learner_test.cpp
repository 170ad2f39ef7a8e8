#include "model/learning/learner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cpt/error.h"
#include "model/random_stream.h"
#include "model/trained_model.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

ModelOptions small_options() {
  ModelOptions options;
  options.bits = 16;
  return options;
}

ModelOptions of_kind(TreeKind kind, std::uint64_t seed = 1) {
  ModelOptions options = small_options();
  options.tree = kind;
  options.seed = seed;
  return options;
}

const StreamShape kStream{.seed = 31, .examples = 3000, .labels = 700};

TEST(Learner, TheSameStreamTwiceLeavesTheSameModel) {
  for (TreeKind kind : {TreeKind::kOnline, TreeKind::kBalanced, TreeKind::kRandom}) {
    const TrainedModel one(of_kind(kind), kStream);
    const TrainedModel other(of_kind(kind), kStream);
    EXPECT_EQ(one.learner.structure_digest(), other.learner.structure_digest());
    EXPECT_EQ(one.learner.weights().digest(), other.learner.weights().digest());
    EXPECT_EQ(one.learner.disagreements(), other.learner.disagreements());
  }
}

TEST(Learner, ARandomTreeFollowsItsSeed) {
  const TrainedModel one(of_kind(TreeKind::kRandom, 1), kStream);
  const TrainedModel other(of_kind(TreeKind::kRandom, 2), kStream);
  EXPECT_NE(one.learner.tree().digest(), other.learner.tree().digest());
  EXPECT_EQ(one.learner.labels().digest(), other.learner.labels().digest());
}

TEST(Learner, ARandomTreeKnowsNothingOfTheFeatures) {
  StreamShape shape = kStream;
  shape.vocabulary = 5;
  const TrainedModel one(of_kind(TreeKind::kRandom), kStream);
  const TrainedModel other(of_kind(TreeKind::kRandom), shape);
  EXPECT_EQ(one.learner.tree().digest(), other.learner.tree().digest());
}

TEST(Learner, ABalancedTreeIsBalanced) {
  const TrainedModel model(of_kind(TreeKind::kBalanced), kStream);
  std::uint32_t deepest = 0;
  for (LabelId label = 0; label < 700; ++label) deepest = std::max(deepest, model.learner.tree().depth(label));
  EXPECT_EQ(deepest, 10U);
}

TEST(Learner, ARandomTreeTossesFairCoins) {
  const TrainedModel model(of_kind(TreeKind::kRandom), {.seed = 1, .examples = 4000, .labels = 4000});
  const BlockNodes& top = model.learner.tree().nodes(0);
  // 4000 tosses at the root, about half of that at the next nodes: within 4 standard deviations.
  EXPECT_NEAR(top.leaves[3], 2000, 4 * std::sqrt(1000));
  EXPECT_NEAR(top.leaves[5], top.leaves[2] / 2.0, 4 * std::sqrt(top.leaves[2] / 4.0));
  EXPECT_NEAR(top.leaves[7], top.leaves[3] / 2.0, 4 * std::sqrt(top.leaves[3] / 4.0));
}

TEST(Learner, EveryTreeItGrowsIsSound) {
  for (TreeKind kind : {TreeKind::kOnline, TreeKind::kBalanced, TreeKind::kRandom}) {
    for (double alpha : {0.05, 0.3, 0.9}) {
      ModelOptions options = of_kind(kind);
      options.alpha = alpha;
      const TrainedModel model(options, kStream);
      EXPECT_EQ(find_invariant_violation(model.learner.tree(), options), "");
    }
  }
}

TEST(Learner, SettlingChangesNothing) {
  TrainedModel model(small_options(), kStream);
  const std::uint64_t structure = model.learner.structure_digest();
  const std::uint64_t weights = model.learner.weights().digest();
  const Batch x = bare_example("never seen");
  model.learner.choose_split(x[0]);
  EXPECT_EQ(model.learner.structure_digest(), structure);
  EXPECT_EQ(model.learner.weights().digest(), weights);
}

TEST(Learner, AppliedChangesLeaveTheSameTreeElsewhere) {
  Learner teacher(small_options());
  Learner pupil(small_options());
  const Batch stream = random_stream(kStream);
  InOrder in_order(teacher);
  Losses losses;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    if (teacher.find(stream[i]) == kNoLabel) pupil.apply(teacher.choose_split(stream[i]));
    in_order.learn_online({&stream, i, i + 1}, losses);
  }
  EXPECT_EQ(pupil.structure_digest(), teacher.structure_digest());
  EXPECT_EQ(pupil.disagreements(), teacher.disagreements());
}

TEST(Learner, ADisagreementIsANodeTakenAgainstItsRegressor) {
  // Two labels, and a root that has learned that the feature means right; balance sends the third label left or right.
  ModelOptions options = small_options();
  options.alpha = 1;
  Learner learner(options);
  Losses losses;
  InOrder in_order(learner);
  Batch batch;
  for (const char* label : {"a", "b", "b", "b", "c", "d", "e"}) {
    batch.add_feature(1, 1);
    batch.finish_example(label, 1, {});
  }
  in_order.learn_online({&batch, 0, 4}, losses);
  const TreeChange c = learner.choose_split(batch[4]);  // 1 and 1 leaves: a tie goes left, though "b" pulls right
  EXPECT_EQ(c.splits, std::vector<LabelId>{0});
  EXPECT_EQ(c.disagreements, 1U);
  learner.apply(c);
  const TreeChange d = learner.choose_split(batch[5]);  // 2 and 1: right, as the regressor wants
  EXPECT_EQ(d.splits, std::vector<LabelId>{1});
  EXPECT_EQ(d.disagreements, 0U);
  learner.apply(d);
  EXPECT_EQ(learner.disagreements(), 1U);
}

// The weight of the constant feature at the root after one more example of a two-label tree.
float root_weight_after(float importance, double rate) {
  ModelOptions options = small_options();
  options.loss = Loss::kSquared;
  options.update = Update::kSgd;
  options.learning_rate = rate;
  Learner learner(options);
  Losses losses;
  Batch batch;
  batch.finish_example("a", 1, {});
  batch.finish_example("b", importance, {});
  InOrder(learner).learn_online({&batch, 0, 2}, losses);
  const BlockHeader& root = learner.tree().header(0);
  return learner.weights().row(WeightTable::index(kConstantFeature, root.key, learner.weights().region(0)))[1];
}

TEST(Learner, AnImportanceOfThreeTakesThreeTimesTheStep) {
  EXPECT_FLOAT_EQ(root_weight_after(1, 0.125), 0.125F);
  EXPECT_FLOAT_EQ(root_weight_after(3, 0.125), 0.375F);
}

// The mean P("a") after a while, where half of all examples, at random, are "a" of one importance, the others "b" of
// another.
double probability_of_a(float of_a, float of_b, const ModelOptions& options) {
  constexpr std::size_t kExamples = 8000;
  Learner learner(options);
  Dice dice(5);
  Batch batch;
  std::vector<bool> is_a;
  for (std::size_t i = 0; i < kExamples; ++i) {
    is_a.push_back(dice.chance(0.5));
    batch.finish_example(is_a.back() ? "a" : "b", is_a.back() ? of_a : of_b, {});
  }
  std::vector<double> of_label(kExamples);
  InOrder(learner).learn_online({&batch, 0, kExamples}, of_label);
  double sum = 0;
  for (std::size_t i = kExamples / 2; i < kExamples; ++i) sum += is_a[i] ? of_label[i] : 1 - of_label[i];
  return sum / (kExamples / 2);
}

TEST(Learner, TakesAnImportanceForSoManyExamples) {
  ModelOptions options = small_options();
  for (const bool calibrates : {false, true}) {
    SCOPED_TRACE(calibrates);
    options.calibrate = calibrates;
    EXPECT_NEAR(probability_of_a(1, 1, options), 0.5, 0.02);
    EXPECT_NEAR(probability_of_a(10, 1, options), 10.0 / 11, 0.02);
    EXPECT_NEAR(probability_of_a(1, 0.1F, options), 10.0 / 11, 0.02);
    EXPECT_NEAR(probability_of_a(4, 2, options), 2.0 / 3, 0.02);
  }
}

class Diverged : public testing::TestWithParam<float> {};
INSTANTIATE_TEST_SUITE_P(Weights, Diverged,
                         testing::Values(std::numeric_limits<float>::quiet_NaN(),
                                         std::numeric_limits<float>::infinity(),
                                         -std::numeric_limits<float>::infinity()));

TEST_P(Diverged, WeightsStopTheLearner) {
  for (Loss loss : {Loss::kLogistic, Loss::kSquared}) {
    ModelOptions options = small_options();
    options.loss = loss;
    TrainedModel model(options, kStream);
    for (std::uint64_t i = 0; i < model.learner.weights().rows(); ++i) model.learner.weights().row(i)[1] = GetParam();
    try {
      InOrder(model.learner).learn_online({&model.stream, 0, 1}, model.losses);
      FAIL() << "learned on";
    } catch (const Error& error) {
      EXPECT_EQ(error.fault(), Fault::kFailed);
      EXPECT_NE(std::string(error.what()).find("--learning-rate"), std::string::npos);
    }
  }
}

struct BadOption {
  const char* name;
  void (*set)(ModelOptions&);
};

class BadOptions : public testing::TestWithParam<BadOption> {};

TEST_P(BadOptions, AreNamed) {
  ModelOptions options = small_options();
  GetParam().set(options);
  try {
    const Learner learner(options);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.fault(), Fault::kUsage);
    EXPECT_EQ(std::string(error.what()).find(GetParam().name), 0U) << error.what();
  }
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
INSTANTIATE_TEST_SUITE_P(
    OutOfRange, BadOptions,
    testing::Values(BadOption{"--alpha", [](ModelOptions& o) { o.alpha = 0; }},
                    BadOption{"--alpha", [](ModelOptions& o) { o.alpha = 1.01; }},
                    BadOption{"--alpha", [](ModelOptions& o) { o.alpha = kNaN; }},
                    BadOption{"--learning-rate", [](ModelOptions& o) { o.learning_rate = 0; }},
                    BadOption{"--learning-rate", [](ModelOptions& o) { o.learning_rate = -1; }},
                    BadOption{"--learning-rate",
                              [](ModelOptions& o) { o.learning_rate = std::numeric_limits<double>::infinity(); }},
                    BadOption{"--clip", [](ModelOptions& o) { o.clip = -0.1; }},
                    BadOption{"--clip", [](ModelOptions& o) { o.clip = 0.5; }},
                    BadOption{"--clip", [](ModelOptions& o) { o.clip = kNaN; }},
                    BadOption{"--bits", [](ModelOptions& o) { o.bits = kLeastBits - 1; }},
                    BadOption{"--bits", [](ModelOptions& o) { o.bits = kMostBits + 1; }},
                    BadOption{"--interactions", [](ModelOptions& o) { o.interactions = {"abc"}; }}));

}  // namespace
}  // namespace cpt
