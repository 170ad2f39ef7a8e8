// Whether importances are such that calibrators take them for what they are.
#include "api/input_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace cpt {
namespace {

using ::testing::HasSubstr;

std::string warning_of(const std::vector<float>& importances) { return warning_of_importances(importances, "a.vw"); }

// Calibrators take an importance for 32 at most.
TEST(WarningOfImportances, IsGivenWhereMostOfThemIsNotSeen) {
  for (const std::vector<float>& many : {std::vector<float>{1, 100},
                                         {0.5F, 0.5F, 70},
                                         {100, 10'000},
                                         {0, 1, 1, 1, 1, 1, 1, 1, 1, 1000},
                                         {1e12F, 1e-3F}}) {
    EXPECT_THAT(warning_of(many), HasSubstr("calibration counts one above 32 as 32")) << ::testing::PrintToString(many);
  }
  EXPECT_EQ(warning_of({2, 0, 0.1F, 500}),
            "the first examples of a.vw have importances from 0.1 to 500; calibration counts one above 32 as 32, so "
            "probabilities will be misleading: divide all importances by the same number, so that most are at most 32 "
            "(little but their ratios matters)");
}

TEST(WarningOfImportances, IsNotGivenWhereTheirRatiosAreSeen) {
  for (const std::vector<float>& few :
       {std::vector<float>{}, {0}, {1}, {1, 32}, {1, 50}, {1000}, {1000, 1000, 0}, {1e6F, 1.5e6F}, {1, 1, 1, 1, 40}}) {
    EXPECT_EQ(warning_of(few), "") << ::testing::PrintToString(few);
  }
}

}  // namespace
}  // namespace cpt
