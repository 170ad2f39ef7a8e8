// Whatever a program learns that is within the stated ranges: probabilities stay probabilities, and the model can be
// saved and gives the same again.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "cpt/model.h"
#include "model/learning/learner.h"
#include "model/random_stream.h"
#include "train/small_model.h"

namespace cpt {
namespace {

struct Kind {
  const char* name;
  Update update;
  Loss loss;
  int trees;
};

struct Feature {
  FeatureHash hash;
  float value;
};

class ExtremeExamples : public ::testing::TestWithParam<Kind> {
 protected:
  ExtremeExamples() : model_(options()) {}

  static ModelOptions options() {
    ModelOptions options = small_model();
    options.update = GetParam().update;
    options.loss = GetParam().loss;
    options.trees = GetParam().trees;
    return options;
  }

  double learn(const std::string& label, const std::vector<Feature>& features, float importance = 1) {
    Batch batch;
    for (const Feature& feature : features) batch.add_feature(feature.hash, feature.value);
    batch.finish_example(label, importance, {});
    const double p = model_.learn(batch[0]);
    EXPECT_TRUE(p >= 0 && p <= 1) << p;
    last_ = batch;
    return p;
  }

  // After which all labels of the last example have probabilities that add up to 1, as after saving and loading.
  void expect_sound() {
    const WeightTable::Survey survey = model_.learner().weights().survey();
    EXPECT_TRUE(survey.finite);
    const Folder folder;
    model_.save(folder / "model");
    const Model loaded = Model::load(folder / "model");
    double sum = 0;
    for (LabelId label = 0; label < model_.labels(); ++label) {
      const std::string name(model_.learner().labels().name(label));
      const double p = model_.probability(last_[0], name);
      EXPECT_TRUE(p >= 0 && p <= 1) << name << ": " << p;
      EXPECT_EQ(loaded.probability(last_[0], name), p) << name;
      sum += p;
    }
    EXPECT_NEAR(sum, 1, 1e-9);
  }

  Model model_;
  Batch last_;
};
INSTANTIATE_TEST_SUITE_P(Kinds, ExtremeExamples,
                         ::testing::Values(Kind{"Safe", Update::kSafe, Loss::kLogistic, 1},
                                           Kind{"SafeSquared", Update::kSafe, Loss::kSquared, 1},
                                           Kind{"TwoTrees", Update::kSafe, Loss::kLogistic, 2}),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST_P(ExtremeExamples, ValuesOfAnySize) {
  Dice dice(1);
  for (int i = 0; i < 3000; ++i) {
    const auto value = static_cast<float>(std::pow(10, dice.between(-40, 30)) * (dice.chance(0.5) ? 1 : -1));
    learn("label" + std::to_string(dice.below(20)),
          {{feature_number(dice.below(30)), value}, {feature_number(100 + dice.below(5)), 1}});
  }
  for (const float value : {1e30F, -1e30F, std::numeric_limits<float>::denorm_min(), 0.0F}) {
    for (int i = 0; i < 50; ++i) learn("label" + std::to_string(i % 20), {{feature_number(3), value}});
    expect_sound();
  }
}

TEST_P(ExtremeExamples, ImportancesOfAnySize) {
  Dice dice(2);
  for (int i = 0; i < 3000; ++i) {
    const auto importance = static_cast<float>(std::pow(10, dice.between(-12, 11.99)));
    learn("label" + std::to_string(dice.below(20)), {{feature_number(dice.below(30)), 1}, {feature_number(40), 1}},
          importance);
  }
  expect_sound();
  // Those that count for more than all others are believed, once calibrators have seen them.
  for (int i = 0; i < 100; ++i) learn("label7", {{feature_number(77), 1}}, 1e12F);
  EXPECT_GT(model_.probability(last_[0], "label7"), 0.5);
  expect_sound();
}

TEST_P(ExtremeExamples, OneFeatureAMillionTimes) {
  for (int i = 0; i < 3; ++i) {
    learn(i % 2 == 0 ? "a" : "b", std::vector<Feature>(1'000'000, {feature_number(1), 1}));
    learn("b", {{feature_number(1), 1}});
  }
  expect_sound();
}

TEST_P(ExtremeExamples, ZerosAndNothingAtAll) {
  for (int i = 0; i < 200; ++i) {
    learn("label" + std::to_string(i % 9),
          i % 2 == 0 ? std::vector<Feature>{} : std::vector<Feature>{{feature_number(1), 0}});
  }
  expect_sound();
}

TEST_P(ExtremeExamples, ALabelThatIsAlwaysRight) {
  for (const std::size_t i : {0U, 1U}) learn("rare", {{feature_number(i), 1}});
  for (int i = 0; i < 100'000; ++i) learn("only", {{feature_number(1), 1}});
  EXPECT_GT(model_.probability(last_[0], "only"), 0.99);
  expect_sound();
}

}  // namespace
}  // namespace cpt
