// The PECOC lemma of the paper on the literal code: estimates from regressors that err.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/known_distribution.h"
#include "model/literal_pecoc.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

using Values = std::vector<double>;

// Over the regressors that there are: row 0 has none.
double mean_square_error(const Values& r, const Values& exact) {
  double sum = 0;
  for (std::size_t i = 1; i < r.size(); ++i) sum += (r[i] - exact[i]) * (r[i] - exact[i]);
  return r.size() == 1 ? 0 : sum / static_cast<double>(r.size() - 1);
}

double sum_of(const Values& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double distance(const Values& estimates, const Values& p) {
  double sum = 0;
  for (std::size_t y = 0; y < p.size(); ++y) sum += std::abs(estimates[y] - p[y]);
  return sum;
}

// Regressors that put the estimate of `label` off as far as errors of `error` can: up, or with error < 0 down.
Values conspiring(const Values& p, std::size_t label, double error) {
  const auto code = hadamard_code(p.size());
  Values r = exact_regressors(p);
  for (std::size_t i = 1; i < r.size(); ++i) r[i] += code[i][label] == 1 ? error : -error;
  return r;
}

Values point_mass(std::size_t k, std::size_t label) {
  Values p(k);
  p[label] = 1;
  return p;
}

// A known P and regressors that err about it.
struct Trial {
  std::size_t k;
  Values p;
  Values r;
  double mean_square;
  Values estimates;
};

template <class Check>
void for_each_trial(Check check) {
  Dice dice(11);
  for (const std::size_t k : {1U, 2U, 4U, 8U, 16U, 64U}) {
    for (const double spread : {0.0, 1.0, 8.0}) {
      for (const double error : {0.001, 0.1, 1.0}) {
        for (int repeat = 0; repeat < 20; ++repeat) {
          Trial trial{k, random_distribution(k, spread, dice), {}, 0, {}};
          const Values exact = exact_regressors(trial.p);
          for (const double r : exact) trial.r.push_back(perturbed(r, error, dice));
          trial.mean_square = mean_square_error(trial.r, exact);
          trial.estimates = pecoc_estimates(k, trial.r);
          check(trial);
        }
      }
    }
  }
}

TEST(HadamardCode, IsTheRecursionOfThePaper) {
  EXPECT_EQ(hadamard_code(1), (std::vector<std::vector<int>>{{1}}));
  EXPECT_EQ(hadamard_code(2), (std::vector<std::vector<int>>{{1, 1}, {1, 0}}));
  EXPECT_EQ(hadamard_code(4), (std::vector<std::vector<int>>{{1, 1, 1, 1}, {1, 0, 1, 0}, {1, 1, 0, 0}, {1, 0, 0, 1}}));
}

TEST(HadamardCode, AnyTwoLabelsAreTogetherInHalfOfTheRows) {
  for (const std::size_t k : {2U, 4U, 16U, 64U}) {
    const auto code = hadamard_code(k);
    for (std::size_t y = 0; y < k; ++y) {
      EXPECT_EQ(code[0][y], 1);
      for (std::size_t z = 0; z < y; ++z) {
        std::size_t agreements = 0;
        for (std::size_t i = 0; i < k; ++i) agreements += code[i][y] == code[i][z] ? 1U : 0U;
        ASSERT_EQ(agreements, k / 2) << y << ' ' << z;
      }
    }
  }
}

TEST(Pecoc, ExactRegressorsGiveTheProbabilities) {
  Dice dice(3);
  for (const std::size_t k : {1U, 2U, 4U, 32U}) {
    const Values p = random_distribution(k, 4, dice);
    const Values estimates = pecoc_estimates(k, exact_regressors(p));
    for (std::size_t y = 0; y < k; ++y) EXPECT_NEAR(estimates[y], p[y], kRounding);
  }
}

TEST(Pecoc, LabelsThatOnlyFillUpToAPowerOfTwoHaveProbabilityZero) {
  Values p{0.1, 0.2, 0.3, 0.25, 0.15, 0, 0, 0};
  const Values estimates = pecoc_estimates(8, exact_regressors(p));
  for (std::size_t y = 0; y < 8; ++y) EXPECT_NEAR(estimates[y], p[y], kRounding);
}

TEST(Pecoc, EstimatesAddUpToOneAndKeepTheirRange) {
  for_each_trial([](const Trial& trial) {
    EXPECT_NEAR(sum_of(trial.estimates), 1, kRounding);
    for (const double estimate : trial.estimates) {
      ASSERT_GE(estimate, 2 / static_cast<double>(trial.k) - 1 - kRounding);
      ASSERT_LE(estimate, 1 + kRounding);
    }
  });
}

TEST(PecocLemma, HoldsForRegressorsThatErr) {
  for_each_trial([](const Trial& trial) {
    const double bound = pecoc_bound(static_cast<double>(trial.k), trial.mean_square);
    for (std::size_t y = 0; y < trial.k; ++y) {
      ASSERT_LE(std::abs(trial.estimates[y] - trial.p[y]), std::sqrt(bound) + kRounding);
    }
  });
}

// With the even distribution every regressor has room to both sides.
TEST(PecocLemma, IsReachedByRegressorsThatConspire) {
  for (const std::size_t k : {2U, 4U, 16U, 128U}) {
    const Values p(k, 1 / static_cast<double>(k));
    for (const double error : {0.5, 0.01, -0.01, -0.5}) {
      const Values r = conspiring(p, k / 2, error);
      const double off = pecoc_estimates(k, r)[k / 2] - p[k / 2];
      EXPECT_NEAR(off * off, pecoc_bound(static_cast<double>(k), error * error), kRounding) << k << ' ' << error;
    }
  }
}

// Counting row 0, which never errs, among the regressors would make the mean too small.
TEST(PecocLemma, FailsIfRow0IsCountedInTheMean) {
  const Values p(4, 0.25);
  const Values r = conspiring(p, 0, 0.2);
  const double off = pecoc_estimates(4, r)[0] - p[0];
  EXPECT_GT(off * off, 1.3 * pecoc_bound(4, 0.2 * 0.2 * 3 / 4));
}

// The columns of the code are orthogonal.
TEST(PecocLemma, TheSquaredErrorsOfAllLabelsHaveAKnownSum) {
  for_each_trial([](const Trial& trial) {
    const auto k = static_cast<double>(trial.k);
    double sum = 0;
    for (std::size_t y = 0; y < trial.k; ++y) sum += std::pow(trial.estimates[y] - trial.p[y], 2);
    EXPECT_NEAR(sum, 4 * (k - 1) / k * trial.mean_square, kRounding);
  });
}

TEST(ClippingAtZero, NeverIncreasesAnError) {
  std::size_t decreased = 0;
  for_each_trial([&](const Trial& trial) {
    const Values clipped = clipped_at_zero(trial.estimates);
    for (std::size_t y = 0; y < trial.k; ++y) {
      const double before = std::abs(trial.estimates[y] - trial.p[y]);
      ASSERT_LE(std::abs(clipped[y] - trial.p[y]), before);
      if (std::abs(clipped[y] - trial.p[y]) < before) ++decreased;
    }
  });
  EXPECT_GT(decreased, 1000U);
}

TEST(Normalizing, GivesADistributionThatIsNoFurtherFromTheTruthAltogether) {
  for_each_trial([](const Trial& trial) {
    const Values estimates = normalized(trial.estimates);
    EXPECT_NEAR(sum_of(estimates), 1, kRounding);
    EXPECT_GE(*std::min_element(estimates.begin(), estimates.end()), 0);
    EXPECT_LE(distance(estimates, trial.p), distance(trial.estimates, trial.p) + kRounding);
  });
}

TEST(Normalizing, KeepsItsBoundForEveryLabel) {
  for_each_trial([](const Trial& trial) {
    const Values estimates = normalized(trial.estimates);
    const double bound = normalized_pecoc_bound(static_cast<double>(trial.k), trial.mean_square);
    for (std::size_t y = 0; y < trial.k; ++y) {
      ASSERT_LE(estimates[y], std::max(trial.estimates[y], 0.0) + kRounding) << "an estimate has grown";
      ASSERT_LE(std::abs(estimates[y] - trial.p[y]), std::sqrt(bound) + kRounding);
    }
  });
}

// One regressor errs about a certain label: half of the others come out below 0, and what the rest has too much is
// taken from the certain one. Exactly, its estimate is (1 - 2 e / k) / (1 + e - 2 e / k).
TEST(Normalizing, NearlyReachesItsBoundAndBreaksTheLemmas) {
  constexpr double kError = 0.001;
  for (const std::size_t k : {4U, 16U, 64U}) {
    Values r = exact_regressors(point_mass(k, 0));
    r[1] -= kError;
    const double off = 1 - normalized(pecoc_estimates(k, r))[0];
    const double mean_square = kError * kError / static_cast<double>(k - 1);
    EXPECT_GT(off * off, 0.99 * normalized_pecoc_bound(static_cast<double>(k), mean_square)) << k;
    EXPECT_GT(off * off, 1.3 * pecoc_bound(static_cast<double>(k), mean_square)) << k;
  }
}

}  // namespace
}  // namespace cpt
