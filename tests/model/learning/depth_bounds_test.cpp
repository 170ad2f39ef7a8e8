// The depth theorem of the paper, and what follows from its total-depth theorem for trees grown by the rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/grown_tree.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

// What the paper's proof gives: log(n - 1) / log(1 / kappa) + 1, for n > 1 labels.
double sharp_depth_bound(std::size_t labels, double alpha) { return depth_bound(labels - 1, alpha) - 1; }

double paper_total_depth(std::size_t labels, double kappa) {
  const double entropy = -kappa * std::log2(kappa) - (1 - kappa) * std::log2(1 - kappa);
  const auto n = static_cast<double>(labels);
  return n * std::log2(n) / entropy;
}

class DepthTheorem : public testing::TestWithParam<double> {};

TEST_P(DepthTheorem, HoldsForTreesOfTheRule) {
  for (const Growth& growth : growths(GetParam())) {
    SCOPED_TRACE(testing::PrintToString(growth));
    const std::uint32_t greatest = depths(grow(growth).tree).greatest;
    EXPECT_LE(greatest, sharp_depth_bound(growth.labels, growth.alpha) + 1e-9);
    EXPECT_LE(greatest, depth_bound(growth.labels, growth.alpha));
  }
}

INSTANTIATE_TEST_SUITE_P(Alphas, DepthTheorem, testing::ValuesIn(kAlphas));

TEST(DepthTheorem, IsTheLogarithmForABalancedTree) {
  for (const std::size_t labels : {1U, 2U, 3U, 4U, 5U, 7U, 8U, 9U, 1000U, 1024U, 1025U}) {
    for (const Opinion opinion : {Opinion::kCoin, Opinion::kLarger}) {
      EXPECT_EQ(depths(grow({1.0, opinion, labels}).tree).greatest, std::ceil(std::log2(labels))) << labels;
    }
  }
}

// One label more than a power of two, and the balanced tree is as deep as the sharp bound.
TEST(DepthTheorem, IsReachedWithinTwoByABalancedTree) {
  for (const std::size_t labels : {3U, 5U, 9U, 1025U, 65537U}) {
    const double greatest = depths(grow({1.0, Opinion::kCoin, labels}).tree).greatest;
    EXPECT_NEAR(greatest, sharp_depth_bound(labels, 1), 1e-9) << labels;
    EXPECT_LT(depth_bound(labels, 1) - greatest, 1.6) << labels;
  }
}

// Regressors that always say left lead the rule to the deepest tree of all that claim 1 allows: the next node down a
// path is over kappa of the nodes, rounded down.
TEST(DepthTheorem, TheRuleGrowsTheDeepestTreeThatClaim1Allows) {
  for (const double alpha : {0.1, 0.3, 0.6, 0.9, 1.0}) {
    for (const std::size_t labels : {2U, 10U, 100U, 1000U, 4000U}) {
      std::uint32_t deepest = 0;
      for (double nodes = static_cast<double>(labels - 1); nodes >= 1; ++deepest) {
        nodes = std::floor(kappa(alpha) * nodes + 1e-9);
      }
      EXPECT_EQ(depths(grow({alpha, Opinion::kLeft, labels}).tree).greatest, deepest) << alpha << ' ' << labels;
    }
  }
}

// The greatest total depth of any tree of m nodes in which every node over k nodes, itself included, has at most
// kappa k of them on a side: all trees that claim 1 allows. By m.
std::vector<double> worst_total_depths(std::size_t nodes, double kappa) {
  std::vector<double> worst(nodes + 1);
  for (std::size_t m = 1; m <= nodes; ++m) {
    const auto most = static_cast<std::size_t>(kappa * static_cast<double>(m) + 1e-9);
    for (std::size_t larger = m / 2; larger <= std::min(most, m - 1); ++larger) {
      worst[m] = std::max(worst[m], worst[larger] + worst[m - 1 - larger] + static_cast<double>(m + 1));
    }
  }
  return worst;
}

class TotalDepthTheorem : public testing::TestWithParam<double> {};

TEST_P(TotalDepthTheorem, BoundsTreesOfTheRule) {
  for (const Growth& growth : growths(GetParam())) {
    const auto sum = static_cast<double>(depths(grow(growth).tree).sum);
    EXPECT_LE(sum, total_depth_bound(growth.labels, growth.alpha)) << testing::PrintToString(growth);
  }
}

INSTANTIATE_TEST_SUITE_P(Alphas, TotalDepthTheorem, testing::ValuesIn(kAlphas));

TEST(TotalDepthTheorem, BoundsTheWorstTreeThatClaim1Allows) {
  constexpr std::size_t kNodes = 1200;
  for (const double alpha : {0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0}) {
    const std::vector<double> worst = worst_total_depths(kNodes, kappa(alpha));
    for (std::size_t m = 1; m <= kNodes; ++m) {
      ASSERT_GT(worst[m], 0) << m;
      ASSERT_LE(worst[m], total_depth_bound(m + 1, alpha) * (1 + 1e-12)) << "alpha " << alpha << ", nodes " << m;
    }
    EXPECT_DOUBLE_EQ(worst[1], total_depth_bound(2, alpha));
  }
}

TEST(TotalDepthTheorem, TheRuleGrowsTheWorstTreeThatClaim1AllowsOrNearlyThat) {
  for (const double alpha : kAlphas) {
    const std::vector<double> worst = worst_total_depths(1000, kappa(alpha));
    for (const std::size_t labels : {2U, 3U, 8U, 17U, 100U, 1001U}) {
      const auto sum = static_cast<double>(depths(grow({alpha, Opinion::kLeft, labels}).tree).sum);
      EXPECT_LE(sum, worst[labels - 1]) << alpha << ' ' << labels;
      EXPECT_GE(sum, 0.99 * worst[labels - 1]) << alpha << ' ' << labels;
    }
  }
}

TEST(TotalDepthTheorem, IsNearlyReachedByALargeTree) {
  for (const double alpha : {0.3, 0.9}) {
    const Growth growth{alpha, Opinion::kLarger, 300'000};
    const auto sum = static_cast<double>(depths(grow(growth).tree).sum);
    EXPECT_GT(sum, 0.93 * total_depth_bound(growth.labels, growth.alpha)) << alpha;
  }
}

// Splits the leaf of `label` into a tree of so many labels, kappa of those below any node on its left.
void split_by_kappa(Tree& tree, LabelId label, std::size_t labels, double kappa) {
  while (labels > 1) {
    const auto left = static_cast<std::size_t>(kappa * static_cast<double>(labels) + 1e-9);
    const std::size_t right = labels - std::min(left, labels - 1);
    split_by_kappa(tree, tree.split(label), right, kappa);
    labels -= right;
  }
}

// The paper's theorem, for its trees: both sides of a node over n leaves hold at most kappa n. With alpha above 1/2
// there is no such node over three leaves, so kappa is at least 2/3, or 1/2 and all nodes are over a power of two.
TEST(TotalDepthTheorem, HoldsAsThePaperSaysUnderItsPremise) {
  struct Case {
    double alpha;
    std::size_t labels;
  };
  for (const Case& of : {Case{0.05, 1000}, Case{0.1, 3000}, Case{0.3, 100'000}, Case{0.5, 59'049}, Case{1, 65'536}}) {
    const double k = kappa(of.alpha);
    Tree tree;
    tree.add_first();
    split_by_kappa(tree, 0, of.labels, k);
    visit_nodes(tree, [&](std::uint32_t left, std::uint32_t right) {
      ASSERT_LE(std::max(left, right), k * (left + right) + 1e-9) << "no tree of the premise";
    });
    const auto sum = static_cast<double>(depths(tree).sum);
    EXPECT_LE(sum, paper_total_depth(of.labels, k) * (1 + 1e-12)) << of.alpha;
    EXPECT_LE(sum, total_depth_bound(of.labels, of.alpha)) << of.alpha;
  }
}

TEST(TotalDepthTheorem, IsReachedUnderItsPremise) {
  const auto sum = static_cast<double>(depths(grow({1.0, Opinion::kCoin, 65'536}).tree).sum);
  EXPECT_DOUBLE_EQ(sum, paper_total_depth(65'536, kappa(1)));
}

TEST(TotalDepthTheorem, HoldsForTheRuleOnlyAsWeState) {
  const auto sum = static_cast<double>(depths(grow({1.0, Opinion::kCoin, 3}).tree).sum);
  EXPECT_GT(sum, paper_total_depth(3, kappa(1)));
  EXPECT_DOUBLE_EQ(sum, total_depth_bound(3, 1));
}

}  // namespace
}  // namespace cpt
