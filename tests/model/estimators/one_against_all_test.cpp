// One-against-all against a plain twin in double precision.
#include "model/estimators/one_against_all.h"

#include <cmath>
#include <map>
#include <string>

#include "cpt/error.h"
#include "model/flat_model.h"
#include "model/literal_rows.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

// A regressor for each label, which begins when the label does.
class LiteralOneAgainstAll {
 public:
  explicit LiteralOneAgainstAll(const ModelOptions& options) : clip_(options.clip), groups_(options) {}

  // Learns one example, of a known label or a new one.
  void learn(const ExampleView& x) {
    const std::size_t label = labels_.emplace(x.label, labels_.size()).first->second;
    std::vector<std::optional<double>> targets(labels_.size(), 0.0);
    targets[label] = 1;
    groups_.train(targets, x);
  }

  double probability(const std::string& label, const ExampleView& x) const {
    double sum = 0;
    for (std::size_t i = 0; i < labels_.size(); ++i) sum += groups_.estimate(i, x);
    const double even = 1 / static_cast<double>(labels_.size());
    if (sum == 0) return even;
    return (1 - clip_) * groups_.estimate(labels_.at(label), x) / sum + clip_ * even;
  }

 private:
  double clip_;
  std::map<std::string, std::size_t> labels_;
  LiteralGroups groups_;
};

ModelOptions options(Loss loss, Update update, double clip = 0.001) {
  ModelOptions options;
  options.method = Method::kOneAgainstAll;
  options.loss = loss;
  options.update = update;
  options.learning_rate = update == Update::kSgd ? 0.3 : 1.0;
  options.clip = clip;
  options.bits = 20;
  return options;
}

struct OneAgainstAllCase {
  Loss loss;
  Update update;
  double clip;
  std::size_t labels;
};

class OneAgainstAllTest : public testing::TestWithParam<OneAgainstAllCase> {
 protected:
  ModelOptions model_options() const { return options(GetParam().loss, GetParam().update, GetParam().clip); }
  StreamShape shape() const {
    return {
        .seed = 3, .examples = 1200, .labels = GetParam().labels, .binary = GetParam().labels != 40, .weighted = true};
  }
};

TEST_P(OneAgainstAllTest, EstimatesWhatItsLiteralTwinEstimates) {
  const TrainedModel model(model_options(), shape());
  LiteralOneAgainstAll twin(model_options());
  for (std::size_t i = 0; i < model.stream.size(); ++i) twin.learn(model.stream[i]);
  for (std::size_t i = 0; i < model.stream.size(); i += 17) {
    const ExampleView x = model.example(i);
    const std::vector<double> all = model.learner.all_probabilities(x);
    for (LabelId label = 0; label < all.size(); ++label) {
      ASSERT_NEAR(all[label], twin.probability(std::string(model.learner.labels().name(label)), x), 2e-3);
    }
  }
}

TEST_P(OneAgainstAllTest, ProbabilitiesAddUpToOneAndAgree) {
  const TrainedModel model(model_options(), shape());
  for (std::size_t i = 0; i < 200; ++i) {
    const ExampleView x = model.example(7 * i);
    EXPECT_NEAR(sum_of(model.learner.all_probabilities(x)), 1, 1e-9);
    if (i % 10 == 0) expect_consistent(model.learner, x);
  }
  expect_draws(model.learner, model.example(0));
}

INSTANTIATE_TEST_SUITE_P(Losses, OneAgainstAllTest,
                         testing::Values(OneAgainstAllCase{Loss::kLogistic, Update::kAdaptive, 0.001, 40},
                                         OneAgainstAllCase{Loss::kLogistic, Update::kSgd, 0, 15},
                                         OneAgainstAllCase{Loss::kSquared, Update::kAdaptive, 0.01, 46},
                                         OneAgainstAllCase{Loss::kSquared, Update::kSgd, 0, 31}));

TEST(OneAgainstAll, SpreadsAllEvenlyWhereNoRegressorSpeaks) {
  // Squared loss: weights that were never trained say 0.
  Learner learner(options(Loss::kSquared, Update::kAdaptive, 0));
  for (int i = 0; i < 20; ++i)
    learner.apply(learner.choose_split(bare_example(label_number(static_cast<std::size_t>(i)))[0]));
  const Batch x = bare_example("label-3");
  EXPECT_EQ(learner.all_probabilities(x[0]), std::vector<double>(20, 0.05));
}

TEST(OneAgainstAll, IsTheSameInEveryRun) {
  const StreamShape shape{.seed = 5, .examples = 2000, .labels = 64};
  const TrainedModel one(options(Loss::kLogistic, Update::kAdaptive), shape);
  const TrainedModel other(options(Loss::kLogistic, Update::kAdaptive), shape);
  EXPECT_EQ(one.learner.weights().digest(), other.learner.weights().digest());
  EXPECT_EQ(one.learner.structure_digest(), other.learner.structure_digest());
  EXPECT_EQ(one.losses.squared, other.losses.squared);
}

TEST(OneAgainstAll, LearnsWhatFeaturesTell) {
  const TrainedModel model(options(Loss::kLogistic, Update::kAdaptive),
                           {.seed = 9, .examples = 6000, .labels = 30, .vocabulary = 200});
  EXPECT_LT(model.losses.mean_log_seen(), 0.7 * std::log(30));
}

TEST(OneAgainstAll, LabelsHangInACompleteTree) {
  const TrainedModel model(options(Loss::kLogistic, Update::kAdaptive), {.seed = 2, .examples = 600, .labels = 300});
  const Tree& tree = model.learner.tree();
  for (LabelId label = 0; label < 300; ++label) EXPECT_EQ(tree.depth(label), label >= 44 && label < 256 ? 8U : 9U);
  EXPECT_EQ(find_invariant_violation(tree, model.learner.options()), "");
  EXPECT_EQ(model.learner.disagreements(), 0U);
}

TEST(OneAgainstAll, SaysThatItsWeightsDiverged) {
  TrainedModel model(options(Loss::kLogistic, Update::kAdaptive), {.seed = 2, .examples = 50, .labels = 20});
  for (std::uint64_t i = 0; i < model.learner.weights().rows(); ++i) {
    if (model.learner.weights().used(i)) model.learner.weights().row(i)[4] = HUGE_VALF;
  }
  PathState path_state;
  model.learner.locate(model.example(0), 0, path_state);
  EXPECT_THROW(model.learner.predict(path_state), Error);
  EXPECT_TRUE(model.learner.top_k(model.example(0), 3).empty());
}

}  // namespace
}  // namespace cpt
