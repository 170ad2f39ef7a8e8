// How often new labels can go against the regressors' preferences.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/grown_tree.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

std::uint64_t total(const GrownTree& grown) {
  return std::accumulate(grown.disagreements.begin(), grown.disagreements.end(), std::uint64_t{0});
}

// Nodes that new labels have passed: a label that passes d of them adds d + 2 to the sum of depths.
std::uint64_t passed(const Tree& tree) { return depths(tree).sum - 2 * (tree.labels() - 1); }

class DisagreementBound : public testing::TestWithParam<double> {};

TEST_P(DisagreementBound, HoldsForTreesOfTheRule) {
  for (const Growth& growth : growths(GetParam())) {
    SCOPED_TRACE(testing::PrintToString(growth));
    const GrownTree grown = grow(growth);
    EXPECT_LE(static_cast<double>(total(grown)), disagreement_bound(growth.labels, growth.alpha));
    EXPECT_LE(total(grown), passed(grown.tree));
  }
}

INSTANTIATE_TEST_SUITE_P(Alphas, DisagreementBound, testing::ValuesIn(kAlphas));

// At alpha = 1 a regressor has no say between equal sides either, and may disagree there.
class DisagreementBoundBelowAlphaOne : public testing::TestWithParam<double> {};

// A disagreement sends a label to the side with fewer leaves, so that side has grown once for each.
TEST_P(DisagreementBoundBelowAlphaOne, IsAtMostTheSumOfTheSmallerSides) {
  for (const Growth& growth : growths(GetParam())) {
    const GrownTree grown = grow(growth);
    std::uint64_t smaller = 0;
    visit_nodes(grown.tree, [&](std::uint32_t left, std::uint32_t right) { smaller += std::min(left, right) - 1; });
    EXPECT_LE(total(grown), smaller) << testing::PrintToString(growth);
  }
}

// Each disagreement of a label leaves it fewer than half of the leaves.
TEST_P(DisagreementBoundBelowAlphaOne, HoldsForEveryLabelAlone) {
  for (const Growth& growth : growths(GetParam())) {
    SCOPED_TRACE(testing::PrintToString(growth));
    const GrownTree grown = grow(growth);
    for (std::size_t label = 1; label < grown.disagreements.size(); ++label) {
      ASSERT_LE(std::uint64_t{2} << grown.disagreements[label], label + 1) << "label " << label;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Alphas, DisagreementBoundBelowAlphaOne, testing::Values(0.05, 0.1, 0.3, 0.6, 0.9));

// A preference that decides between equal sides only: every other label disagrees at every node.
TEST(DisagreementBound, IsReachedByAWhisper) {
  for (const double alpha : {0.1, 0.3, 0.6, 0.9}) {
    for (const std::size_t labels : {2U, 4U, 8U, 1024U, 65'536U}) {
      const GrownTree grown = grow({alpha, Opinion::kWhisper, labels});
      EXPECT_EQ(static_cast<double>(total(grown)), disagreement_bound(labels, alpha)) << alpha << ' ' << labels;
    }
  }
}

TEST(DisagreementBound, IsReachedAtAlphaOneWithinOnePerLabel) {
  for (const std::size_t labels : {2U, 3U, 5U, 1025U, 65'537U}) {
    const GrownTree grown = grow({1.0, Opinion::kLarger, labels});
    EXPECT_EQ(total(grown), passed(grown.tree)) << labels;
    EXPECT_GT(static_cast<double>(total(grown) + labels), disagreement_bound(labels, 1)) << labels;
  }
}

TEST(DisagreementBound, IsFarFromRegressorsThatBalanceByThemselves) {
  EXPECT_EQ(total(grow({0.9, Opinion::kSmaller, 10'000})), 0U);
}

}  // namespace
}  // namespace cpt
