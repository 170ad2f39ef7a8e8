#include <gtest/gtest.h>

#include "model/estimators/descent.h"

namespace cpt {
namespace {

TEST(Objective, IsTheFormulaOfThePaper) {
  EXPECT_DOUBLE_EQ(insertion_objective(0.75, 4, 1, 0.5), 0.5 * 2 * 0.25 + 0.5 * 2);
  EXPECT_DOUBLE_EQ(insertion_objective(0, 1, 8, 0.25), -0.75 - 0.25 * 3);
  EXPECT_DOUBLE_EQ(insertion_objective(1, 3, 3, 0.9), 0.1);
}

TEST(Objective, IsBalanceAloneAtAlphaOne) {
  for (double p : {0.0, 0.3, 1.0}) {
    EXPECT_GT(insertion_objective(p, 2, 1, 1), 0);
    EXPECT_LT(insertion_objective(p, 1, 2, 1), 0);
    EXPECT_EQ(insertion_objective(p, 5, 5, 1), 0);
  }
}

TEST(Objective, TiesGoLeft) {
  EXPECT_FALSE(insertion_objective(0.5, 7, 7, 0.6) > 0);
  EXPECT_FALSE(insertion_objective(1, 1, 2, 0.5) > 0);  // preference 0.5 against balance -0.5
}

}  // namespace
}  // namespace cpt
