// The table of calibrators.
#include "model/weights/calibrators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "model/random_stream.h"
#include "model/weights/weight_table.h"

namespace cpt {
namespace {

TEST(Calibrators, AreFoundByKeyAndNeverMove) {
  Calibrators calibrators(kPartitions);
  std::map<std::uint64_t, Calibrator*> added;
  for (std::size_t i = 0; i < 5000; ++i) {
    const std::uint64_t key = mix(i) | 1;
    EXPECT_EQ(calibrators.find(key), nullptr);
    added[key] = &calibrators.add(static_cast<Partition>(i % kPartitions), key);
  }
  for (const auto& [key, calibrator] : added) {
    EXPECT_EQ(calibrators.find(key), calibrator);
    EXPECT_EQ(&calibrators.add(0, key), calibrator);
  }
  EXPECT_EQ(calibrators.find(12345), nullptr);
}

TEST(Calibrators, BeginAsTheFirstOne) {
  Calibrators calibrators(kPartitions);
  const Calibrator& one = calibrators.add(3, 17);
  for (std::size_t row = 0; row < Calibrator::kRows; ++row) EXPECT_EQ(one.rows()[row], kFirstCalibrator.rows()[row]);
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    EXPECT_EQ(one.a[lane], 1);
    EXPECT_EQ(one.b[lane], 0);
    EXPECT_EQ(one.c[lane], 1.5F);
    EXPECT_EQ(one.s_aa[lane], 0.1F);
    EXPECT_EQ(one.s_bb[lane], 0.5F);
    EXPECT_EQ(one.s_cc[lane], 0.1F);
    EXPECT_EQ(one.s_ab[lane] + one.s_ac[lane] + one.s_bc[lane], 0);
  }
}

TEST(Calibrators, AreClearedAndListedByPartition) {
  Calibrators calibrators(kPartitions);
  for (const std::uint64_t key : {9U, 5U, 7U, 11U}) calibrators.add(key < 8 ? 1 : 2, key);
  EXPECT_EQ(calibrators.keys(1), (std::vector<std::uint64_t>{5, 7}));
  EXPECT_EQ(calibrators.size(2), 2U);
  calibrators.clear(1);
  EXPECT_EQ(calibrators.size(1), 0U);
  EXPECT_EQ(calibrators.find(5), nullptr);
  EXPECT_NE(calibrators.find(9), nullptr);
  EXPECT_EQ(calibrators.keys(2), (std::vector<std::uint64_t>{9, 11}));
}

// What a table says of its weights, it says of their calibrators too.
TEST(Calibrators, ArePartOfTheSurveyOfTheTable) {
  WeightTable one(10);
  WeightTable other(10);
  EXPECT_EQ(one.digest(), 0U);
  for (WeightTable* table : {&one, &other}) {
    for (const std::uint64_t key : {5U, 9U}) table->calibrators().add(4, key);
  }
  EXPECT_NE(one.digest(), 0U);
  EXPECT_EQ(one.digest(), other.digest());
  other.calibrators().find(9)->b[3] = 0.5F;
  EXPECT_NE(one.digest(), other.digest());
  EXPECT_TRUE(other.survey().finite);
  other.calibrators().find(9)->s_bc[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(other.survey(4).finite);
  EXPECT_EQ(other.survey().used, 0U);
  other.clear(4);
  EXPECT_EQ(other.digest(), 0U);
}

}  // namespace
}  // namespace cpt
