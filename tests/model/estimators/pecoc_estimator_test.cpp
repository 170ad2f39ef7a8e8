// PECOC over all labels against the paper's words (literal_pecoc.h), whose rows are the complements of the product's.
#include "model/estimators/pecoc_estimator.h"

#include <cmath>
#include <optional>

#include "cpt/error.h"
#include "model/flat_model.h"
#include "model/literal_pecoc.h"
#include "model/literal_rows.h"

namespace cpt {
namespace {

ModelOptions options(Loss loss, double clip = 0.001) {
  ModelOptions options;
  options.method = Method::kPecoc;
  options.loss = loss;
  options.update = Update::kAdaptive;  // as the twins of tests/model/literal_rows.h
  options.clip = clip;
  options.bits = 20;
  return options;
}

// A learner that knows the labels label-0 .. label-(n-1) of a random stream, and has learned it.
struct Pecoc {
  Pecoc(const ModelOptions& options, const StreamShape& shape) : learner(options), stream(random_stream(shape)) {
    for (LabelId i = 0; i < shape.labels; ++i) {
      learner.apply({label_number(i), {i == 0 ? kNoLabel : complete_split(i)}, 0});
    }
    InOrder(learner).learn_known({&stream, 0, stream.size()}, std::vector<bool>(stream.size()), losses);
  }

  Learner learner;
  Batch stream;
  Losses losses;
};

TEST(WalshHadamard, IsItsOwnInverseButForTheSize) {
  Dice dice(1);
  for (std::size_t k : {1U, 2U, 8U, 64U}) {
    std::vector<double> values;
    for (std::size_t i = 0; i < k; ++i) values.push_back(dice.between(-1, 1));
    std::vector<double> twice = values;
    walsh_hadamard(twice);
    double sum = 0;
    for (const double value : values) sum += value;
    EXPECT_NEAR(twice[0], sum, 1e-12);
    walsh_hadamard(twice);
    for (std::size_t i = 0; i < k; ++i) EXPECT_NEAR(twice[i] / static_cast<double>(k), values[i], 1e-12);
  }
}

struct PecocCase {
  Loss loss;
  double clip;
  std::size_t labels;
};

class PecocTest : public testing::TestWithParam<PecocCase> {
 protected:
  StreamShape shape() const { return {.seed = 3, .examples = 800, .labels = GetParam().labels, .weighted = true}; }
  ModelOptions model_options() const { return options(GetParam().loss, GetParam().clip); }
};

TEST_P(PecocTest, EstimatesWhatThePaperSays) {
  const Pecoc model(model_options(), shape());
  const std::size_t n = GetParam().labels;
  const std::size_t k = std::bit_ceil(n);
  const auto code = hadamard_code(k);
  LiteralGroups groups(model_options());
  for (std::size_t i = 0; i < model.stream.size(); ++i) {
    const LabelId label = model.learner.find(model.stream[i]);
    std::vector<std::optional<double>> targets;
    for (std::size_t row = 1; row < k; ++row) targets.emplace_back(1 - code[row][label]);
    groups.train(targets, model.stream[i]);
  }
  for (std::size_t i = 0; i < model.stream.size(); i += 23) {
    const ExampleView x = model.stream[i];
    std::vector<double> r{1};
    for (std::size_t row = 1; row < k; ++row) r.push_back(1 - groups.estimate(row - 1, x));
    std::vector<double> expected = pecoc_estimates(k, r);
    expected.resize(n);
    expected = normalized(expected);
    const std::vector<double> all = model.learner.all_probabilities(x);
    for (std::size_t label = 0; label < n; ++label) {
      const double clip = GetParam().clip;
      ASSERT_NEAR(all[label], (1 - clip) * expected[label] + clip / static_cast<double>(n), 5e-3) << label;
    }
  }
}

TEST_P(PecocTest, ProbabilitiesAddUpToOneAndAgree) {
  const Pecoc model(model_options(), shape());
  for (std::size_t i = 0; i < 40; ++i) {
    const ExampleView x = model.stream[19 * i];
    EXPECT_NEAR(sum_of(model.learner.all_probabilities(x)), 1, 1e-9);
    expect_consistent(model.learner, x);
  }
  expect_draws(model.learner, model.stream[0]);
}

INSTANTIATE_TEST_SUITE_P(Codes, PecocTest,
                         testing::Values(PecocCase{Loss::kLogistic, 0.001, 32}, PecocCase{Loss::kLogistic, 0, 19},
                                         PecocCase{Loss::kSquared, 0.01, 16}, PecocCase{Loss::kLogistic, 0.001, 2},
                                         PecocCase{Loss::kLogistic, 0.001, 1}));

TEST(Pecoc, LearnsWhatFeaturesTell) {
  const Pecoc model(options(Loss::kLogistic), {.seed = 9, .examples = 6000, .labels = 30, .vocabulary = 200});
  EXPECT_LT(model.losses.mean_log_seen(), 0.8 * std::log(30));
}

TEST(Pecoc, TakesNoFurtherLabel) {
  const Pecoc model(options(Loss::kLogistic), {.examples = 100, .labels = 5});
  EXPECT_THROW(model.learner.choose_split(bare_example("label-5")[0]), Error);
}

TEST(Pecoc, IsTheSameInEveryRun) {
  const StreamShape shape{.seed = 5, .examples = 1000, .labels = 40};
  const Pecoc one(options(Loss::kLogistic), shape);
  const Pecoc other(options(Loss::kLogistic), shape);
  EXPECT_EQ(one.learner.weights().digest(), other.learner.weights().digest());
  EXPECT_EQ(one.losses.log, other.losses.log);
}

}  // namespace
}  // namespace cpt
