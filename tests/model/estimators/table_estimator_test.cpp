// The table of frequencies against a std::map.
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/estimators/table.h"
#include "model/flat_model.h"

namespace cpt {
namespace {

ModelOptions options() {
  ModelOptions options;
  options.method = Method::kTable;
  return options;
}

// Counts by the features themselves.
class LiteralTable {
 public:
  void learn(const ExampleView& x) {
    counts_[features_of(x)][std::string(x.label)] += static_cast<double>(x.importance);
  }
  double probability(const std::string& label, const ExampleView& x) const {
    const auto found = counts_.find(features_of(x));
    if (found == counts_.end()) return 0;
    double total = 0;
    for (const auto& [other, count] : found->second) total += count;
    const auto own = found->second.find(label);
    return own == found->second.end() ? 0 : own->second / total;
  }

 private:
  using Features = std::vector<std::pair<FeatureHash, float>>;
  static Features features_of(const ExampleView& x) {
    Features features;
    for (std::size_t f = 0; f < x.features.size(); ++f) features.emplace_back(x.features[f], x.values[f]);
    return features;
  }

  std::map<Features, std::map<std::string, double>> counts_;
};

// Few features, so that the same x comes often.
class TableTest : public testing::TestWithParam<bool> {
 protected:
  StreamShape shape() const {
    return {.seed = 7, .examples = 3000, .labels = 40, .vocabulary = 8, .active = 3, .weighted = GetParam()};
  }
};

TEST_P(TableTest, PredictsTheFrequenciesBeforeEachExample) {
  const Batch stream = random_stream(shape());
  Learner learner(options());
  LiteralTable twin;
  PathState path_state;
  std::size_t certain = 0;
  for (std::size_t i = 0; i < stream.size(); ++i) {
    const ExampleView x = stream[i];
    if (learner.find(x) == kNoLabel) learner.apply(learner.choose_split(x));
    learner.locate(x, learner.find(x), path_state);
    const double p = learner.predict(path_state);
    // Importances are rounded to units of 2^-20.
    ASSERT_NEAR(p, twin.probability(std::string(x.label), x), GetParam() ? 1e-4 : 1e-15) << "example " << i;
    if (p > 0) ++certain;
    learner.train(path_state);
    twin.learn(x);
  }
  EXPECT_GT(certain, stream.size() / 2);
}

TEST_P(TableTest, AnswersAgree) {
  const TrainedModel model(options(), shape());
  for (std::size_t i = 0; i < 60; ++i) {
    expect_consistent(model.learner, model.example(41 * i));
    EXPECT_NEAR(sum_of(model.learner.all_probabilities(model.example(41 * i))), 1, 1e-12);
  }
  expect_draws(model.learner, model.example(0));
}

INSTANTIATE_TEST_SUITE_P(Importances, TableTest, testing::Bool());

TEST(Table, KnowsNothingOfAnXThatNeverCame) {
  const TrainedModel model(options(), {.examples = 500, .labels = 30});
  Batch batch;
  batch.add_feature(feature_number(987654), 1);
  batch.finish_example("label-3", 1, {});
  EXPECT_EQ(model.learner.all_probabilities(batch[0]), std::vector<double>(30, 0.0));
  EXPECT_EQ(model.learner.top_k(batch[0], 2).size(), 2U);
  EXPECT_TRUE(model.learner.top_k(batch[0], 2, 0.1).empty());
  EXPECT_EQ(model.learner.draw(batch[0], 1).front().label, kNoLabel);
  EXPECT_EQ(model.learner.draw(batch[0], 1).front().probability, 0);
}

TEST(Table, TakesTheSmallestWeightTableAndWritesNoWeight) {
  const TrainedModel model(options(), {.examples = 500, .labels = 30});
  EXPECT_EQ(model.learner.weights().bits(), kLeastBits);
  EXPECT_EQ(model.learner.weights().survey().used, 0U);
  EXPECT_GT(model.learner.frequencies().pairs(), 30U);
}

TEST(ExampleKey, TellsFeaturesAndValuesApartAndNothingElse) {
  const auto key = [](const std::vector<std::pair<std::size_t, float>>& features, const char* label, float importance) {
    Batch batch;
    for (const auto& [feature, value] : features) batch.add_feature(feature_number(feature), value);
    batch.finish_example(label, importance, {});
    return example_key(batch[0]);
  };
  const std::uint64_t one = key({{1, 1.0F}, {2, 2.0F}}, "a", 1);
  EXPECT_EQ(key({{2, 2.0F}, {1, 1.0F}}, "b", 3), one);
  EXPECT_NE(key({{1, 2.0F}, {2, 1.0F}}, "a", 1), one);
  EXPECT_NE(key({{1, 1.0F}}, "a", 1), one);
  EXPECT_NE(key({{1, 1.0F}, {2, 2.0F}, {3, 1.0F}}, "a", 1), one);
  EXPECT_NE(key({{1, -1.0F}, {2, 2.0F}}, "a", 1), one);
}

TEST(Frequencies, AreTheSameInWhateverOrderTheyAddUp) {
  Dice dice(3);
  struct Added {
    std::uint64_t key;
    LabelId label;
    Units units;
  };
  std::vector<Added> all;
  for (int i = 0; i < 2000; ++i) {
    const auto label = static_cast<LabelId>(dice.below(9));
    all.push_back({dice.below(50), label, units_of(static_cast<float>(dice.between(0.01, 7)))});
  }
  Frequencies forward;
  Frequencies backward;
  for (const Added& one : all) forward.add(one.key, one.label, one.units);
  for (auto one = all.rbegin(); one != all.rend(); ++one) backward.add(one->key, one->label, one->units);
  EXPECT_EQ(forward.digest(), backward.digest());
  EXPECT_EQ(forward.pairs(), backward.pairs());
  for (const std::uint64_t key : forward.sorted_keys()) {
    EXPECT_EQ(forward.find(key)->total, backward.find(key)->total);
    EXPECT_EQ(forward.find(key)->counts, backward.find(key)->counts);
  }
  backward.add(all[0].key, all[0].label, 1);
  EXPECT_NE(forward.digest(), backward.digest());
}

TEST(Frequencies, CountImportanceInWholeUnits) {
  EXPECT_EQ(units_of(1), Units{1} << 20);
  EXPECT_EQ(units_of(2.5F), (Units{5} << 20) / 2);
  EXPECT_EQ(units_of(1e-30F), 1U);
  EXPECT_EQ(units_of(1e30F), Units{1} << 44);
  Frequencies frequencies;
  frequencies.add(1, 2, ~Units{0} - 1);
  frequencies.add(1, 2, 5);
  EXPECT_EQ(frequencies.find(1)->of(2), ~Units{0});
  EXPECT_EQ(frequencies.find(1)->total, ~Units{0});
  EXPECT_EQ(frequencies.find(1)->of(3), 0U);
}

}  // namespace
}  // namespace cpt
