// The closed forms themselves. What they bound is in the *_bounds_test.cpp.
#include "model/tree/bounds.h"

#include <gtest/gtest.h>

#include <cmath>

namespace cpt {
namespace {

TEST(Kappa, HasItsClosedForm) {
  EXPECT_DOUBLE_EQ(kappa(1), 0.5);
  EXPECT_DOUBLE_EQ(kappa(0.5), 2.0 / 3);
  EXPECT_DOUBLE_EQ(kappa(1.0 / 3), 0.8);
}

TEST(DepthBound, HasItsClosedForm) {
  EXPECT_DOUBLE_EQ(depth_bound(1, 0.7), 2);
  EXPECT_DOUBLE_EQ(depth_bound(1024, 1), 12);
  EXPECT_DOUBLE_EQ(depth_bound(9, 0.5), std::log(9) / std::log(1.5) + 2);
}

// log(1 / kappa) is about 2^(1 - 1/alpha) there, and 1 / kappa has no digits left to tell it by.
TEST(DepthBound, IsExactForSmallAlpha) {
  EXPECT_NEAR(depth_bound(1000, 0.02) / (std::log(1000) * std::exp2(49)), 1, 1e-9);
  EXPECT_DOUBLE_EQ(depth_bound(1, 0.001), 2);
  EXPECT_DOUBLE_EQ(depth_bound(1, 1e-9), 2);
  EXPECT_FALSE(std::isnan(depth_bound(1000, 1e-9)));
}

TEST(TotalDepthBound, HasItsClosedForm) {
  EXPECT_DOUBLE_EQ(total_depth_bound(1, 0.7), 0);
  EXPECT_DOUBLE_EQ(total_depth_bound(2, 0.7), 2);
  EXPECT_DOUBLE_EQ(total_depth_bound(1025, 1), 1024 * 10 + 1025);
  const double entropy = -2.0 / 3 * std::log2(2.0 / 3) - 1.0 / 3 * std::log2(1.0 / 3);
  EXPECT_DOUBLE_EQ(total_depth_bound(9, 0.5), 8 * 3 / entropy + 9);
}

// H(kappa) is about e / log 2 + e / alpha with e = 2^(1 - 1/alpha): 1 / kappa - 1, without digits left in kappa.
TEST(TotalDepthBound, IsExactForSmallAlpha) {
  const double entropy = std::exp2(-49) * (1 / std::log(2) + 49);
  EXPECT_NEAR(total_depth_bound(1025, 0.02) / (1024 * 10 / entropy), 1, 1e-9);
  EXPECT_DOUBLE_EQ(total_depth_bound(2, 1e-9), 2);
  EXPECT_FALSE(std::isnan(total_depth_bound(1000, 1e-9)));
}

TEST(DisagreementBound, HasItsClosedForm) {
  EXPECT_DOUBLE_EQ(disagreement_bound(1, 0.7), 0);
  EXPECT_DOUBLE_EQ(disagreement_bound(2, 0.7), 0);
  EXPECT_DOUBLE_EQ(disagreement_bound(8, 0.7), 12 - 7);
  EXPECT_DOUBLE_EQ(disagreement_bound(8, 0.05), 12 - 7);
  EXPECT_DOUBLE_EQ(disagreement_bound(1, 1), 0);
  EXPECT_DOUBLE_EQ(disagreement_bound(2, 1), 0);
  EXPECT_DOUBLE_EQ(disagreement_bound(1025, 1), 1024 * 10 + 1025 - 2 * 1024);
}

TEST(EstimateBounds, HaveTheirClosedForms) {
  EXPECT_DOUBLE_EQ(squared_error_bound(20, 0.01), 4);
  EXPECT_DOUBLE_EQ(pecoc_bound(4, 0.16), 4 * 9.0 / 16 * 0.16);
  EXPECT_DOUBLE_EQ(normalized_pecoc_bound(4, 0.16), 0.48);
  EXPECT_DOUBLE_EQ(k_way_bound(4, 5, 0.16), 25 * 4 * 9.0 / 16 * 0.16);
}

TEST(KWayBound, IsThatOfATreeForTwoSidesAndThatOfPecocForOneNode) {
  for (double mean_square : {0.0, 0.001, 0.3}) {
    EXPECT_DOUBLE_EQ(k_way_bound(2, 17, mean_square), squared_error_bound(17, mean_square));
    EXPECT_DOUBLE_EQ(k_way_bound(64, 1, mean_square), pecoc_bound(64, mean_square));
    EXPECT_DOUBLE_EQ(normalized_pecoc_bound(2, mean_square), pecoc_bound(2, mean_square));
  }
}

}  // namespace
}  // namespace cpt
