// That find_invariant_violation finds what is broken. A Tree cannot be damaged from outside, so trees that are sound in
// themselves are held against options under which they could not have grown.
#include <gtest/gtest.h>

#include "model/random_tree.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

ModelOptions with_alpha(double alpha) {
  ModelOptions options;
  options.alpha = alpha;
  return options;
}

ModelOptions options_of_kind(TreeKind kind) {
  ModelOptions options;
  options.tree = kind;
  return options;
}

TEST(Invariants, HoldForTreesOfNoneOneAndTwoLabels) {
  for (double alpha : {0.05, 0.9, 1.0}) {
    for (std::size_t labels : {0U, 1U, 2U}) {
      EXPECT_EQ(find_invariant_violation(random_tree(labels, 1), with_alpha(alpha)), "") << labels;
    }
  }
}

TEST(Invariants, AChainIsOutOfBalanceUnlessTheTreeIsRandom) {
  const Tree tree = chain(200);
  EXPECT_NE(find_invariant_violation(tree, with_alpha(0.9)).find("out of balance"), std::string::npos);
  EXPECT_NE(find_invariant_violation(tree, options_of_kind(TreeKind::kBalanced)).find("out of balance"),
            std::string::npos);
  EXPECT_EQ(find_invariant_violation(tree, options_of_kind(TreeKind::kRandom)), "");
}

// One leaf more on a side than kappa n + 1 - kappa, and it is found.
TEST(Invariants, TheBalanceIsTheKappaClaimToTheLeaf) {
  for (double alpha : {0.5, 0.7, 0.9}) {
    const double k = kappa(alpha);
    for (std::size_t right = 2; right < 12; ++right) {
      const Tree tree = chain(right + 1);  // the root has one leaf on the left
      const auto n = static_cast<double>(right + 1);
      const bool claim = static_cast<double>(right) <= k * n + 1 - k + 1e-9;
      EXPECT_EQ(find_invariant_violation(tree, with_alpha(alpha)).empty(), claim) << "alpha " << alpha << ", " << right;
    }
  }
}

}  // namespace
}  // namespace cpt
