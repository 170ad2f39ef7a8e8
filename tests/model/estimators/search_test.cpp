#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "model/estimators/tree_estimator.h"
#include "model/trained_model.h"

namespace cpt {
namespace {

// All labels, best first, ties by id: what top_k finds without looking at all.
std::vector<Ranked> sorted(const std::vector<double>& probabilities, double threshold = 0) {
  std::vector<Ranked> all;
  for (LabelId label = 0; label < probabilities.size(); ++label) {
    if (probabilities[label] >= threshold) all.push_back({label, probabilities[label]});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Ranked& a, const Ranked& b) { return a.probability > b.probability; });
  return all;
}

void expect_first(const std::vector<Ranked>& found, const std::vector<Ranked>& all, std::size_t k) {
  ASSERT_EQ(found.size(), std::min(k, all.size()));
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i].label, all[i].label) << "rank " << i;
    ASSERT_EQ(found[i].probability, all[i].probability) << "rank " << i;
  }
}

ModelOptions options(Loss loss, double clip, TreeKind kind = TreeKind::kOnline, int ways = 2) {
  ModelOptions options;
  options.method = ways == 2 ? Method::kTree : Method::kConditionalPecoc;
  options.arity = ways;
  options.loss = loss;
  options.clip = clip;
  options.tree = kind;
  options.bits = 16;
  return options;
}

struct SearchCase {
  Loss loss;
  double clip;
  TreeKind kind;
  std::size_t labels;
  int ways = 2;
};

class Search : public testing::TestWithParam<SearchCase> {
 protected:
  Search()
      : model_(options(GetParam().loss, GetParam().clip, GetParam().kind, GetParam().ways),
               {.seed = 11, .examples = 3000, .labels = GetParam().labels, .binary = GetParam().labels % 2 == 0}) {}
  const Learner& learner() const { return model_.learner; }
  TrainedModel model_;
};

TEST_P(Search, AllProbabilitiesSumToOne) {
  for (std::size_t i = 0; i < 3000; i += 30) {
    const std::vector<double> all = learner().all_probabilities(model_.example(i));
    ASSERT_EQ(all.size(), GetParam().labels);
    EXPECT_NEAR(std::accumulate(all.begin(), all.end(), 0.0), 1, 1e-5);
    EXPECT_GE(*std::min_element(all.begin(), all.end()), 0);
  }
}

TEST_P(Search, OneLabelsProbabilityIsTheOneAmongAll) {
  PathState path_state;
  for (std::size_t i = 0; i < 3000; i += 300) {
    const std::vector<double> all = learner().all_probabilities(model_.example(i));
    for (LabelId label = 0; label < all.size(); ++label) {
      model_.learner.locate(model_.example(i), label, path_state);
      ASSERT_NEAR(model_.learner.predict(path_state), all[label], 1e-12 * all[label]);
    }
  }
}

TEST_P(Search, TheBestAreThoseOfSortingAll) {
  for (std::size_t i = 0; i < 3000; i += 100) {
    const ExampleView x = model_.example(i);
    const std::vector<Ranked> all = sorted(learner().all_probabilities(x));
    for (std::size_t k : {0U, 1U, 2U, 10U, 100U, 5000U}) expect_first(learner().top_k(x, k), all, k);
  }
}

TEST_P(Search, AThresholdLeavesOutWhatIsBelowIt) {
  for (std::size_t i = 0; i < 3000; i += 300) {
    const ExampleView x = model_.example(i);
    const std::vector<double> all = learner().all_probabilities(x);
    for (double threshold : {1e-6, 0.01, 0.3, 1.0, 1.5, all.front()}) {
      expect_first(learner().top_k(x, 7, threshold), sorted(all, threshold), 7);
      expect_first(learner().top_k(x, 5000, threshold), sorted(all, threshold), 5000);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Search,
                         testing::Values(SearchCase{Loss::kLogistic, 0, TreeKind::kOnline, 300},
                                         SearchCase{Loss::kLogistic, 0.001, TreeKind::kOnline, 301},
                                         SearchCase{Loss::kSquared, 0, TreeKind::kOnline, 300},
                                         SearchCase{Loss::kSquared, 0.001, TreeKind::kOnline, 301},
                                         SearchCase{Loss::kLogistic, 0.001, TreeKind::kBalanced, 1000},
                                         SearchCase{Loss::kSquared, 0, TreeKind::kRandom, 555},
                                         SearchCase{Loss::kSquared, 0.001, TreeKind::kOnline, 2},
                                         SearchCase{Loss::kLogistic, 0, TreeKind::kOnline, 300, 4},
                                         SearchCase{Loss::kSquared, 0.001, TreeKind::kRandom, 301, 8},
                                         SearchCase{Loss::kSquared, 0, TreeKind::kOnline, 300, 16},
                                         SearchCase{Loss::kLogistic, 0.001, TreeKind::kBalanced, 301, 16},
                                         SearchCase{Loss::kLogistic, 0, TreeKind::kOnline, 1}));

// Labels that join a tree whose weights are all 0: every node says one half.
struct Untrained {
  explicit Untrained(std::size_t labels) : learner(options(Loss::kLogistic, 0, TreeKind::kBalanced)) {
    for (std::size_t i = 0; i < labels; ++i) {
      const Batch one = bare_example(label_number(i));
      learner.apply(learner.choose_split(one[0]));
    }
  }
  Learner learner;
};

TEST(SearchTies, EqualProbabilitiesComeInTheOrderOfIds) {
  const Untrained model(64);
  const Batch x = bare_example("");
  const std::vector<Ranked> best = model.learner.top_k(x[0], 64);
  ASSERT_EQ(best.size(), 64U);
  for (LabelId i = 0; i < 64; ++i) {
    EXPECT_EQ(best[i].label, i);
    EXPECT_EQ(best[i].probability, 1.0 / 64);
  }
}

TEST(SearchTies, HoldWhereOnlySomeAreEqual) {
  const Untrained model(45);  // 19 leaves of probability 1/32 and 26 of 1/64
  const Batch x = bare_example("");
  const std::vector<Ranked> all = sorted(model.learner.all_probabilities(x[0]));
  for (std::size_t k = 0; k <= 46; ++k) expect_first(model.learner.top_k(x[0], k), all, k);
}

TEST(SearchOfFewLabels, AnEmptyTreeHasNoBestLabel) {
  const Untrained model(0);
  const Batch x = bare_example("");
  EXPECT_TRUE(model.learner.top_k(x[0], 3).empty());
  EXPECT_TRUE(model.learner.all_probabilities(x[0]).empty());
}

TEST(SearchOfFewLabels, AnOnlyLabelIsCertain) {
  const Untrained model(1);
  const Batch x = bare_example("");
  const std::vector<Ranked> best = model.learner.top_k(x[0], 3);
  ASSERT_EQ(best.size(), 1U);
  EXPECT_EQ(best[0].probability, 1);
  EXPECT_EQ(model.learner.all_probabilities(x[0]), std::vector<double>{1.0});
  EXPECT_EQ(model.learner.draw(x[0], 5).front().label, 0U);
  EXPECT_EQ(model.learner.draw(x[0], 5).front().probability, 1);
}

TEST_P(Search, DrawsFollowTheProbabilities) {
  constexpr std::size_t kDraws = 20'000;
  const ExampleView x = model_.example(17);
  const std::vector<double> all = learner().all_probabilities(x);
  std::vector<double> counts(all.size());
  Dice dice(13);
  for (std::size_t i = 0; i < kDraws; ++i) {
    const Ranked drawn = learner().draw(x, dice.bits()).front();
    ASSERT_NEAR(drawn.probability, all[drawn.label], 1e-12);
    ++counts[drawn.label];
  }
  // Chi-square over the labels that are expected often enough, the rest as one; far beyond any sensible quantile.
  double chi = 0;
  double cells = 0;
  double rest = 0;
  double rest_expected = 0;
  for (LabelId label = 0; label < all.size(); ++label) {
    const double expected = all[label] * kDraws;
    if (expected < 10) {
      rest += counts[label];
      rest_expected += expected;
      continue;
    }
    chi += (counts[label] - expected) * (counts[label] - expected) / expected;
    ++cells;
  }
  if (rest_expected >= 10) chi += (rest - rest_expected) * (rest - rest_expected) / rest_expected;
  EXPECT_LE(chi, cells + 5 * std::sqrt(2 * cells + 2) + 5);
}

}  // namespace
}  // namespace cpt
