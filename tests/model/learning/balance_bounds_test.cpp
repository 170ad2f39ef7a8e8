// Claims 1 and 2 of the paper: how far a node can be out of balance, whatever the regressors say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/grown_tree.h"
#include "model/learning/bounds.h"
#include "model/learning/invariants.h"
#include "model/weights/block_steps.h"

namespace cpt {
namespace {

ModelOptions with_alpha(double alpha) {
  ModelOptions options;
  options.alpha = alpha;
  return options;
}

// Whether a new label goes right at a node, by the product's step.
bool goes_right(double alpha, float p, std::uint32_t left, std::uint32_t right) {
  BlockNodes content;
  content.child = {Child(), Child::node(), Child::leaf(0), Child::leaf(1)};
  content.leaves = {0, left + right, left, right};
  Row row{};
  row[1] = p;
  Settling settling;
  return settle_in_block(row, content, with_alpha(alpha), settling) == 3;
}

std::uint32_t at_root(const Tree& tree, std::size_t place) { return tree.content(0).leaves[place]; }

// kappa decides to the leaf: below it the surest regressor has its way, above it none has.
TEST(Claim2, FromKappaOnTheNewLeafGoesToTheOtherSideWhateverTheRegressorSays) {
  for (const double alpha : kAlphas) {
    for (const std::uint32_t larger : {1U, 2U, 3U, 7U, 40U, 511U, 513U, 3000U, 524'287U, 524'289U, 1'000'000U}) {
      for (std::uint32_t smaller = 1; smaller <= std::min(larger, 200U); ++smaller) {
        const double share = static_cast<double>(larger) / static_cast<double>(larger + smaller);
        if (std::abs(share - kappa(alpha)) < 1e-12) continue;
        const bool overruled = share > kappa(alpha);
        ASSERT_NE(goes_right(alpha, 1, smaller, larger), overruled) << alpha << ": " << smaller << ' ' << larger;
        ASSERT_EQ(goes_right(alpha, 0, larger, smaller), overruled) << alpha << ": " << smaller << ' ' << larger;
      }
    }
  }
}

TEST(Claim2, ExactlyAtKappaTheNewLeafGoesLeft) {
  struct Tie {
    double alpha;
    std::uint32_t ratio;  // kappa / (1 - kappa)
  };
  for (const Tie& tie : {Tie{1, 1}, Tie{0.5, 2}, Tie{0.25, 8}, Tie{0.125, 128}}) {
    for (const std::uint32_t leaves : {1U, 3U, 1000U}) {
      EXPECT_FALSE(goes_right(tie.alpha, 1, leaves, tie.ratio * leaves)) << tie.alpha;
      EXPECT_FALSE(goes_right(tie.alpha, 0, tie.ratio * leaves, leaves)) << tie.alpha;
    }
  }
}

class Claim1 : public testing::TestWithParam<double> {};

// right < kappa n + (1 - kappa) and left <= kappa n + (1 - kappa), with 1 subtracted on both sides.
TEST_P(Claim1, HoldsAtEveryNode) {
  const double k = kappa(GetParam());
  for (const Growth& growth : growths(GetParam())) {
    SCOPED_TRACE(testing::PrintToString(growth));
    const GrownTree grown = grow(growth);
    visit_nodes(grown.tree, [&](std::uint32_t left, std::uint32_t right) {
      const double most = k * (left + right - 1);
      EXPECT_LT(right - 1, most) << left << ' ' << right;
      EXPECT_LE(left - 1, most * (1 + 1e-12)) << left << ' ' << right;
    });
    EXPECT_EQ(find_invariant_violation(grown.tree, with_alpha(GetParam())), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Alphas, Claim1, testing::ValuesIn(kAlphas));

TEST(Claim1, IsReachedToTheLeafAtTheRoot) {
  for (const double alpha : {0.1, 0.3, 0.6, 0.9, 1.0}) {
    for (const std::size_t labels : {5U, 100U, 2000U}) {
      const double most = kappa(alpha) * static_cast<double>(labels - 1) + 1;
      const double right = at_root(grow({alpha, Opinion::kRight, labels}).tree, 3);
      const double left = at_root(grow({alpha, Opinion::kLeft, labels}).tree, 2);
      EXPECT_GE(right + 1, std::min(most, static_cast<double>(labels)) - 1e-9) << alpha << ' ' << labels;
      EXPECT_GE(left + 1, std::min(most, static_cast<double>(labels)) - 1e-9) << alpha << ' ' << labels;
    }
  }
}

// kappa n + (1 - kappa) is 2 for 3 leaves at alpha = 1, and 3 for 4 leaves at alpha = 1/2.
TEST(Claim1, IsStrictOnTheRightAndMetOnTheLeft) {
  EXPECT_EQ(at_root(grow({1.0, Opinion::kLeft, 3}).tree, 2), 2U);
  EXPECT_EQ(at_root(grow({1.0, Opinion::kRight, 3}).tree, 3), 1U);
  EXPECT_EQ(at_root(grow({0.5, Opinion::kLeft, 4}).tree, 2), 3U);
  EXPECT_EQ(at_root(grow({0.5, Opinion::kRight, 4}).tree, 3), 2U);
}

}  // namespace
}  // namespace cpt
