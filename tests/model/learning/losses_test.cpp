// Every progressive figure against a loop that knows nothing of looking ahead, to the last bit; and closed forms.
#include "model/learning/losses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "cpt/hashing.h"
#include "model/learning/evaluation.h"
#include "model/learning/in_order.h"
#include "model/random_stream.h"

namespace cpt {
namespace {

// Adds one example as its description says: the sums one after another, nothing shared with Losses.
struct SlowLosses {
  Losses sums;

  void count(const Learner& learner, const ExampleView& x, LabelId label, double p) {
    const double h = static_cast<double>(x.importance);
    const bool seen = label != kNoLabel;
    const double squared = h * (1 - p) * (1 - p);
    const double log = h * -std::log(p < 1e-6 ? 1e-6 : p);
    ++sums.examples;
    sums.weight += h;
    sums.weight_squares += h * h;
    sums.squared += squared;
    sums.log += log;
    if (!seen) {
      ++sums.new_labels;
      return;
    }
    sums.seen_weight += h;
    sums.squared_seen += squared;
    sums.log_seen += log;
    if (!is_sampled(sums.examples)) return;
    const double weight = h * 64;  // short streams
    const Ranked drawn = learner.draw(x, mix(learner.options().seed ^ mix(sums.examples))).front();
    ++sums.brier_samples;
    sums.brier_weight += weight;
    sums.other_squares += drawn.label == label ? 0 : weight * drawn.probability;
    const std::vector<double> all = learner.all_probabilities(x);
    const auto best = std::ranges::max_element(all);
    const bool right = *best >= kLeastTop1 && best - all.begin() == static_cast<std::ptrdiff_t>(label);
    ++sums.top1_samples;
    sums.top1_weight += weight;
    sums.top1_weight_squares += weight / 0x1p22 * weight / 0x1p22;
    sums.top1_error += right ? 0 : weight;
  }
};

void expect_same_bits(const Losses& a, const Losses& b) {
  EXPECT_EQ(a.examples, b.examples);
  EXPECT_EQ(a.new_labels, b.new_labels);
  EXPECT_EQ(a.brier_samples, b.brier_samples);
  EXPECT_EQ(a.top1_samples, b.top1_samples);
  EXPECT_EQ(a.weight, b.weight);
  EXPECT_EQ(a.weight_squares, b.weight_squares);
  EXPECT_EQ(a.squared, b.squared);
  EXPECT_EQ(a.log, b.log);
  EXPECT_EQ(a.seen_weight, b.seen_weight);
  EXPECT_EQ(a.squared_seen, b.squared_seen);
  EXPECT_EQ(a.log_seen, b.log_seen);
  EXPECT_EQ(a.brier_weight, b.brier_weight);
  EXPECT_EQ(a.other_squares, b.other_squares);
  EXPECT_EQ(a.top1_weight, b.top1_weight);
  EXPECT_EQ(a.top1_weight_squares, b.top1_weight_squares);
  EXPECT_EQ(a.top1_error, b.top1_error);
}

void expect_same_model(const Learner& a, const Learner& b) {
  EXPECT_EQ(a.structure_digest(), b.structure_digest());
  EXPECT_EQ(a.weights().digest(), b.weights().digest());
  EXPECT_EQ(a.disagreements(), b.disagreements());
}

// One example after another, by the learner's own steps.
Losses learn_slowly(Learner& learner, const Batch& stream) {
  SlowLosses slow;
  PathState path_state;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const ExampleView x = stream[i];
    const LabelId known = learner.find(x);
    const LabelId label = known != kNoLabel ? known : learner.apply(learner.choose_split(x));
    learner.locate(x, label, path_state);
    const double p = learner.predict(path_state);
    slow.count(learner, x, known, known == kNoLabel ? 0 : p);
    learner.train(path_state);
  }
  return slow.sums;
}

ModelOptions small(Loss loss = Loss::kLogistic) {
  ModelOptions options;
  options.bits = 14;  // some collisions
  options.loss = loss;
  return options;
}

class Progressive : public testing::TestWithParam<std::tuple<Loss, double>> {
 protected:
  ModelOptions options() const {
    ModelOptions options = small(std::get<0>(GetParam()));
    options.clip = std::get<1>(GetParam());
    return options;
  }
  Batch stream_ = random_stream({.seed = 21, .labels = 400, .binary = false, .weighted = true});
};
INSTANTIATE_TEST_SUITE_P(LossAndClip, Progressive,
                         testing::Combine(testing::Values(Loss::kLogistic, Loss::kSquared), testing::Values(0, 0.001)));

// One of each interval is sampled, and stands for all of its examples, so that the mean is that of the whole stream.
TEST(Samples, AreOneOfSixtyFourAndOfLongRunsFewer) {
  std::uint64_t samples = 0;
  std::uint64_t interval = 0;
  for (std::uint64_t before = 0; before < std::uint64_t{1} << 24; before += interval) {
    interval = 64;
    for (std::uint64_t from = std::uint64_t{1} << 20; from <= before; from *= 2) interval *= 2;
    std::uint64_t of_interval = 0;
    for (std::uint64_t number = before + 1; number <= before + interval; ++number) {
      if (!is_sampled(number)) continue;
      ++of_interval;
      ASSERT_EQ(sample_weight(3, number), 3 * static_cast<double>(interval)) << number;
    }
    ASSERT_EQ(of_interval, 1U) << before;
    ++samples;
  }
  EXPECT_EQ(samples, (std::uint64_t{2} + 4) << 13);
}

TEST(Samples, OfSeveralTreesAreNotSearched) {
  EXPECT_TRUE(searches_best({.trees = 1}));
  EXPECT_FALSE(searches_best({.trees = 2}));
}

// Of the examples of some ranks, each of which numbers its own, 30 % are right.
Losses searched(std::uint64_t ranks, std::uint64_t examples, double importance, Dice& dice) {
  Losses sum;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    Losses losses;
    losses.examples = examples;
    losses.weight += importance * static_cast<double>(examples);
    losses.weight_squares += importance * importance * static_cast<double>(examples);
    for (std::uint64_t number = 64; number <= examples; number += 64) {
      const std::uint64_t step = static_cast<std::uint64_t>(sample_weight(1, number)) / 64;
      if (number / 64 % step == 0) losses.add_top1(sample_weight(importance, number), dice.below(10) < 3);
    }
    sum += losses;
  }
  return sum;
}

// The interval holds the truth in 95 of 100 runs, and is no wider than it must be.
TEST(Searches, SayHowExactTheyAre) {
  struct Case {
    std::uint64_t ranks;
    std::uint64_t examples;
    double importance;
    double width;  // 1.96 deviations of the estimate
  };
  const double deviation = std::sqrt(0.7 * 0.3);
  const auto of_even = [&](double samples) { return 1.96 * deviation / std::sqrt(samples); };
  const std::uint64_t long_run = std::uint64_t{1} << 23;
  // Weights 1, 2, 4 and 8 of 2^14, 2^13, 2^13, 2^13 samples: 2^17 squared over (2 + 4 + 16 + 64) 2^13.
  const double of_long = of_even(std::pow(2., 34) / (86 * std::pow(2., 13)));
  for (const Case& one :
       {Case{1, 1 << 20, 1, of_even(1 << 14)}, Case{16, 1 << 20, 1, of_even(1 << 18)}, Case{1, long_run, 1, of_long},
        Case{1, long_run + 64, 3, of_long}, Case{4, long_run, 1e12, of_long / 2}, Case{1, long_run, 1e-12, of_long}}) {
    constexpr std::size_t kRuns = 60;
    std::size_t within = 0;
    Dice dice(one.examples + one.ranks);
    for (std::size_t run = 0; run < kRuns; ++run) {
      const Losses losses = searched(one.ranks, one.examples, one.importance, dice);
      within += std::abs(losses.mean_top1_error_seen() - 0.7) <= losses.top1_interval() ? 1U : 0U;
      ASSERT_NEAR(losses.top1_interval(), one.width, 0.05 * one.width) << one.ranks << " " << one.examples;
    }
    EXPECT_GE(within, kRuns * 86 / 100) << one.ranks << " ranks, importance " << one.importance;
  }
}

// Shards take turns: whatever their number, each has its share of the samples.
TEST(Samples, AreOfAllShards) {
  constexpr std::uint64_t kExamples = std::uint64_t{1} << 21;
  for (const std::uint64_t shards : {2U, 3U, 16U, 64U}) {
    std::vector<double> sampled(shards);
    double samples = 0;
    for (std::uint64_t number = 1; number <= kExamples; ++number) {
      if (is_sampled(number)) ++sampled[number % shards], ++samples;
    }
    for (std::uint64_t shard = 0; shard < shards; ++shard) {
      const double share = 1 / static_cast<double>(shards);
      // Within five standard deviations.
      EXPECT_NEAR(sampled[shard], samples * share, 5 * std::sqrt(samples * share)) << shard << " of " << shards;
    }
  }
}

// Of every label, whatever its probability, not only of those that examples have.
TEST(Searches, TellWhetherALabelIsTheBest) {
  const Batch stream = random_stream({.examples = 3000, .labels = 60, .vocabulary = 30});
  Learner learner({.bits = 14});
  Losses ignored;
  InOrder(learner).learn_online({&stream, 0, stream.size()}, ignored);
  std::uint64_t number = 1;
  while (!is_sampled(number)) ++number;

  std::size_t close_seconds = 0;
  std::size_t improbable_bests = 0;
  std::size_t clear_bests = 0;
  std::size_t hopeless = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::vector<double> all = learner.all_probabilities(stream[i]);
    const auto best = static_cast<LabelId>(std::ranges::max_element(all) - all.begin());
    for (LabelId label = 0; label < all.size(); ++label) {
      Losses losses;
      losses.examples = number - 1;
      count_seen(learner, stream[i], label, all[label], losses);
      ASSERT_EQ(losses.top1_samples, 1U);
      const bool right = label == best && all[best] >= kLeastTop1;
      ASSERT_EQ(static_cast<double>(losses.top1_error) == 0, right) << all[label] << " of at most " << all[best];
      close_seconds += label != best && all[label] > 0.3 ? 1U : 0U;
      improbable_bests += label == best && all[label] < 0.5 ? 1U : 0U;
      clear_bests += label == best && all[label] > 0.501 ? 1U : 0U;
      hopeless += all[label] < 0.0099 ? 1U : 0U;
    }
  }
  EXPECT_GT(close_seconds, 10U);
  EXPECT_GT(improbable_bests, 10U);
  EXPECT_GT(clear_bests, 10U);
  EXPECT_GT(hopeless, 10U);
}

// Samples of the squares of other labels, with the squared loss of all examples, give the Brier score of all examples.
TEST(BrierScore, IsEstimatedWithoutBias) {
  const Batch stream = random_stream({.examples = 40'000, .labels = 60, .vocabulary = 30, .weighted = true});
  Learner learner({.bits = 14});
  Losses ignored;
  InOrder(learner).learn_online({&stream, 0, stream.size()}, ignored);
  Losses losses;
  WeightedMean exact;
  WeightedMean others;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const LabelId label = learner.find(stream[i]);
    const std::vector<double> all = learner.all_probabilities(stream[i]);
    count_seen(learner, stream[i], label, all[label], losses);
    double squares = 0;
    for (const double p : all) squares += p * p;
    exact.add(stream[i].importance, 1 - 2 * all[label] + squares);
    others.add(stream[i].importance, squares - all[label] * all[label]);
  }
  ASSERT_GT(losses.brier_samples, 400U);
  EXPECT_NEAR(losses.mean_brier_seen(), exact.mean(), 0.1 * others.mean());
  EXPECT_GT(others.mean(), 0.05);
}

TEST_P(Progressive, LearningInOrderIsTheSlowLoop) {
  Learner slow(options());
  const Losses expected = learn_slowly(slow, stream_);
  ASSERT_GT(expected.top1_samples, 10U);
  for (std::size_t slice : {std::size_t{1}, std::size_t{3}, std::size_t{64}, stream_.size()}) {
    Learner learner(options());
    InOrder in_order(learner);
    Losses losses;
    for (std::size_t begin = 0; begin < stream_.size(); begin += slice) {
      in_order.learn_online({&stream_, begin, std::min(stream_.size(), begin + slice)}, losses);
    }
    expect_same_bits(losses, expected);
    expect_same_model(learner, slow);
  }
}

// Once every label is in the tree, both ways of learning are one.
TEST_P(Progressive, LearningSettledExamplesIsTheSlowLoop) {
  Learner slow(options());
  Learner learner(options());
  Losses ignored;
  learn_slowly(slow, stream_);
  InOrder(learner).learn_online({&stream_, 0, stream_.size()}, ignored);

  const Losses expected = learn_slowly(slow, stream_);
  Losses losses;
  InOrder(learner).learn_known({&stream_, 0, stream_.size()}, std::vector<bool>(stream_.size()), losses);
  expect_same_bits(losses, expected);
  expect_same_model(learner, slow);
}

TEST_P(Progressive, PredictingOnlyChangesNothing) {
  Learner learner(options());
  Losses losses;
  InOrder in_order(learner);
  in_order.learn_online({&stream_, 0, 2000}, losses);
  const std::uint64_t structure = learner.structure_digest();
  const std::uint64_t weights = learner.weights().digest();

  SlowLosses expected;
  PathState path_state;
  for (std::size_t i = 2000; i < stream_.size(); ++i) {
    const LabelId label = learner.find(stream_[i]);
    if (label != kNoLabel) learner.locate(stream_[i], label, path_state);
    expected.count(learner, stream_[i], label, label == kNoLabel ? 0 : learner.predict(path_state));
  }
  ASSERT_GT(expected.sums.new_labels, 100U);
  Losses frozen;
  in_order.predict_only({&stream_, 2000, stream_.size()}, frozen);
  expect_same_bits(frozen, expected.sums);
  EXPECT_EQ(learner.structure_digest(), structure);
  EXPECT_EQ(learner.weights().digest(), weights);
}

TEST(Losses, AnExampleMarkedNewCountsAsProbabilityZero) {
  Learner learner(small());
  Losses losses;
  Batch batch;
  for (int i = 0; i < 3; ++i) batch.finish_example("only", 2, {});
  InOrder in_order(learner);
  in_order.learn_online({&batch, 0, 1}, losses);
  in_order.learn_known({&batch, 1, 3}, {true, false}, losses);
  EXPECT_EQ(losses.new_labels, 2U);
  EXPECT_EQ(losses.squared, 4);  // twice importance 2; an only label is certain
  EXPECT_DOUBLE_EQ(losses.log, 4 * std::log(1e6));
  EXPECT_EQ(losses.seen_weight, 2);
  EXPECT_EQ(losses.squared_seen, 0);
}

Losses mixed() {
  Losses losses;
  losses.add_new(1);
  losses.add_seen(2, 0.5);
  losses.add_seen(1, 0);
  return losses;
}

TEST(Losses, MeansAreWeighted) {
  const Losses losses = mixed();
  EXPECT_DOUBLE_EQ(losses.mean_squared(), (1 + 2 * 0.25 + 1) / 4);
  EXPECT_DOUBLE_EQ(losses.mean_squared_seen(), (2 * 0.25 + 1) / 3);
  EXPECT_DOUBLE_EQ(losses.mean_log(), (2 * std::log(1e6) + 2 * std::log(2)) / 4);
  EXPECT_DOUBLE_EQ(losses.mean_log_seen(), (std::log(1e6) + 2 * std::log(2)) / 3);
}

TEST(Losses, NothingCountedGivesZeroMeans) {
  const Losses none;
  for (double mean :
       {none.mean_squared(), none.mean_log(), none.mean_squared_seen(), none.mean_log_seen(), none.mean_brier_seen(),
        none.mean_top1_error_seen(), none.squared_interval(), none.top1_interval()}) {
    EXPECT_EQ(mean, 0);
  }
}

TEST(Losses, TheIntervalIsHoeffdings) {
  Losses losses;
  for (int i = 0; i < 1000; ++i) losses.add_seen(1, 0.5);
  EXPECT_NEAR(losses.squared_interval(), std::sqrt(std::log(40) / 2000), 1e-15);
  // As many as the ten million test examples of the web ads.
  losses.weight = losses.weight_squares = ExactSum(1e7);
  EXPECT_NEAR(losses.squared_interval(), 0.0004295, 1e-7);
}

TEST(Losses, TheIntervalOfWeightedExamplesHasTheirEffectiveNumber) {
  Losses losses;
  losses.add_seen(3, 0.5);
  losses.add_seen(1, 0.5);
  EXPECT_DOUBLE_EQ(losses.squared_interval(), std::sqrt(std::log(40) / (2 * 16.0 / 10)));
}

TEST(Losses, TheIntervalOfTheTop1ErrorIsWilsons) {
  Losses losses;
  for (int i = 0; i < 100; ++i) {
    losses.add_seen(2, 0.5);
    losses.add_top1(128, i < 80);
  }
  EXPECT_DOUBLE_EQ(losses.mean_top1_error_seen(), 0.2);
  EXPECT_NEAR(losses.top1_interval(), 0.0777, 1e-4);  // 0.1333 to 0.2888
  losses.top1_error = ExactSum();
  EXPECT_NEAR(losses.top1_interval(), 0.0185, 1e-4);
}

TEST(Losses, NoNumberOfLabelsIsEquivalentToALossOfOne) {
  Losses losses;
  losses.add_new(1);
  EXPECT_TRUE(std::isinf(losses.equivalent()));
}

TEST(Losses, EquivalentIsTheNumberOfLabelsOfAUniformDistribution) {
  for (double labels : {1.0, 2.0, 10.0, 1000.0}) {
    Losses losses;
    losses.add_seen(1, 1 / labels);
    EXPECT_NEAR(losses.equivalent(), labels, 1e-9 * labels);
  }
}

TEST(Losses, AddAndSinceAreInverse) {
  Losses all = mixed();
  const Losses earlier = all;
  Losses more;
  more.add_new(0.5);
  more.add_seen(4, 0.25);
  all += more;
  expect_same_bits(all.since(earlier), more);
}

}  // namespace
}  // namespace cpt
