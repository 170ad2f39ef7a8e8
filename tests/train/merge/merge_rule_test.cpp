// How the changes of several ranks to one row become one: closed forms.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "train/merge/weight_merge.h"

namespace cpt {
namespace {

// What a rank did to the row: by how much lane 0 grew, and all weights.
struct RowChange {
  double confidence;
  double delta;
};

constexpr float kAccumulator = 2;
constexpr float kWeight = 0.5F;

Row row(double accumulator, double weight) {
  Row all;
  all.fill(static_cast<float>(weight));
  all[0] = static_cast<float>(accumulator);
  return all;
}

// Merges changes of a row of kAccumulator and kWeight; all lanes but 0 are alike.
Row merge(MergeRule rule, const std::vector<RowChange>& changes, int ranks = 8, double unit = 1,
          float before = kAccumulator) {
  std::vector<Row> rows;
  for (const RowChange& change : changes) rows.push_back(row(before + change.confidence, kWeight + change.delta));
  std::vector<RowOfRank> pointers;
  for (const Row& one : rows) pointers.push_back(&one);
  return merge_row(rule, row(before, kWeight), pointers, ranks, unit);
}

void expect_row(const Row& merged, double accumulator, double weight) {
  EXPECT_NEAR(merged[0], accumulator, 1e-6 * accumulator);
  for (std::size_t lane = 1; lane < kLanes; ++lane) EXPECT_NEAR(merged[lane], weight, 1e-6) << lane;
}

TEST(Average, IsTheMeanOverAllRanksTouchedOrNot) {
  expect_row(merge(MergeRule::kAverage, {{1, 0.25}, {3, 0.75}}, 4), kAccumulator + 1, kWeight + 0.25);
  expect_row(merge(MergeRule::kAverage, {{4, 0.5}}, 4), kAccumulator + 1, kWeight + 0.125);
}

TEST(Confidence, IsTheWeightedMeanAndAccumulatorsAddUp) {
  expect_row(merge(MergeRule::kConfidence, {{1, 0.25}, {3, -0.75}}), kAccumulator + 4, kWeight + (0.25 - 3 * 0.75) / 4);
  expect_row(merge(MergeRule::kConfidence, {{2, 0.5}, {0, 9}, {2, 0.25}}), kAccumulator + 4, kWeight + 0.375);
}

TEST(Confidence, DoesNotCareForUnitAndRanks) {
  const std::vector<RowChange> changes = {{1, 0.25}, {3, -0.75}};
  EXPECT_EQ(merge(MergeRule::kConfidence, changes, 2, 1), merge(MergeRule::kConfidence, changes, 64, 1e-5));
}

TEST(Contraction, IsItsFormula) {
  const double unit = 0.5;
  const auto c = [&](double growth) { return growth / unit; };
  const double numerator = (c(1) * 0.25 + c(0.25) * -0.5) * (1 - std::exp(-c(1.25)));
  const double denominator = c(1) * (1 - std::exp(-c(1))) + c(0.25) * (1 - std::exp(-c(0.25)));
  expect_row(merge(MergeRule::kContraction, {{1, 0.25}, {0.25, -0.5}}, 8, unit), kAccumulator + 1.25,
             kWeight + numerator / denominator);
}

TEST(Contraction, IsTheSumWhereLittleHappened) {
  // Equal confidences far below the unit; and unequal ones with changes in proportion.
  expect_row(merge(MergeRule::kContraction, {{1, 0.25}, {1, 0.125}, {1, -0.5}}, 8, 1e7), kAccumulator + 3,
             kWeight - 0.125);
  expect_row(merge(MergeRule::kContraction, {{1, 0.25}, {2, 0.5}}, 8, 1e8), kAccumulator + 3, kWeight + 0.75);
}

TEST(Contraction, IsTheWeightedMeanWhereMuchHappened) {
  expect_row(merge(MergeRule::kContraction, {{1, 0.25}, {3, -0.75}}, 8, 0.01), kAccumulator + 4,
             kWeight + (0.25 - 3 * 0.75) / 4);
}

class EachRule : public ::testing::TestWithParam<MergeRule> {};
INSTANTIATE_TEST_SUITE_P(Rules, EachRule,
                         ::testing::Values(MergeRule::kAverage, MergeRule::kConfidence, MergeRule::kContraction));

// Average is the exception: it divides by the ranks that have nothing to say
// (Average.IsTheMeanOverAllRanksTouchedOrNot).
class RuleOfTouchedRanks : public ::testing::TestWithParam<MergeRule> {};
INSTANTIATE_TEST_SUITE_P(Rules, RuleOfTouchedRanks, ::testing::Values(MergeRule::kConfidence, MergeRule::kContraction));

TEST_P(RuleOfTouchedRanks, TakesTheChangeOfASingleRankAsItIs) {
  Row now = row(3.25, 0.1);
  now[7] = -17.3F;
  Row before = row(kAccumulator, kWeight);
  before[9] = 1e20F;  // its difference to what it is now is no number that could be added again
  EXPECT_EQ(merge_row(GetParam(), before, std::vector<RowOfRank>{&now}, 64, 1e-3), now);
}

TEST_P(EachRule, GivesTheCommonChangeOfEqualRanksAtMostOncePerRank) {
  const Row merged = merge(GetParam(), {{1, 0.25}, {1, 0.25}, {1, 0.25}}, 3);
  EXPECT_GE(merged[5], kWeight + 0.25F - 1e-6F);
  EXPECT_LE(merged[5], kWeight + 0.75F + 1e-6F);
}

TEST_P(EachRule, MergesLanesApart) {
  Row a = row(3, kWeight);
  Row b = row(3, kWeight);
  a[4] += 1;
  b[9] -= 1;
  const Row merged = merge_row(GetParam(), row(kAccumulator, kWeight), std::vector<RowOfRank>{&a, &b}, 2, 1);
  EXPECT_GT(merged[4], kWeight);
  EXPECT_LT(merged[9], kWeight);
  for (const std::size_t lane : {1U, 3U, 5U, 8U, 10U, 15U}) EXPECT_EQ(merged[lane], kWeight);
}

TEST_P(EachRule, LeavesARowThatWasOnlyLookedAt) {
  EXPECT_EQ(merge(GetParam(), {{0, 0}, {0, 0}}), row(kAccumulator, kWeight));
}

// An accumulator stops feeling its growth after 2^24 updates of the same size; learning goes on all the same.
TEST_P(EachRule, TakesTheMeanWhereNoAccumulatorGrew) {
  expect_row(merge(GetParam(), {{0, 0.5}, {0, -0.25}}, 2, 1, 1e7F), 1e7, kWeight + 0.125);
}

TEST_P(EachRule, StaysFiniteWhateverTheSizes) {
  const float tiny = std::numeric_limits<float>::denorm_min();
  for (const double unit : {1e-300, 1e-30, 1.0, 1e30, 1e300}) {
    for (const std::vector<RowChange>& changes : std::vector<std::vector<RowChange>>{{{tiny, 1}, {tiny, 1}},
                                                                                     {{1e-37, 1e-3}, {1e30, 1}},
                                                                                     {{1e37, 1e3}, {1e37, -1e3}},
                                                                                     {{1e37, 1e3}, {0, 1e3}}}) {
      SCOPED_TRACE("unit " + std::to_string(unit));
      EXPECT_TRUE(is_finite(merge(GetParam(), changes, 2, unit, 0)));
    }
  }
}

TEST(IsFinite, LooksAtEveryLane) {
  EXPECT_TRUE(is_finite(row(1, -1)));
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      Row broken = row(1, -1);
      broken[lane] = bad;
      EXPECT_FALSE(is_finite(broken)) << lane;
    }
  }
}

}  // namespace
}  // namespace cpt
