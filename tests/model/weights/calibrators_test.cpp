// The table of calibrators.
#include "model/weights/calibrators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>

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

TEST(Calibrators, BeginWithLessCovarianceWhereTheFirstImportanceIsGreat) {
  Calibrators calibrators(kPartitions);
  EXPECT_EQ(calibrators.add(0, 1, 1e-3F).floats, kFirstCalibrator.floats);
  for (const auto& [key, importance, divisor] :
       {std::tuple{3U, 4.0F, 4.0F}, {5U, 1e12F, Calibrator::kMostImportance}}) {
    const Calibrator& added = calibrators.add(0, key, importance);
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
      EXPECT_EQ(added.at(lane, Calibrator::kC), 1.5F);
      EXPECT_EQ(added.at(lane, Calibrator::kAA), 0.1F / divisor);
      EXPECT_EQ(added.at(lane, Calibrator::kBB), 0.5F / divisor);
    }
  }
}

// None overlaps another one, and no vector of four numbers crosses a cache line.
TEST(Calibrators, KeepTheNumbersOfANodeTogether) {
  constexpr std::size_t kFloatsOfLine = 16;
  Calibrator calibrator;
  std::set<const float*> used;
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    const float* const node = calibrator.node(lane);
    for (std::size_t number = 0; number < Calibrator::kNumbers; ++number) {
      EXPECT_EQ(&calibrator.at(lane, number), node + number);
      EXPECT_TRUE(used.insert(node + number).second);
    }
    const auto offset = static_cast<std::size_t>(node - calibrator.floats.data());
    EXPECT_LE(offset + Calibrator::kNumbers, calibrator.floats.size());
    for (const std::size_t four : {offset, offset + 4}) {
      EXPECT_EQ(four / kFloatsOfLine, (four + 3) / kFloatsOfLine) << "lane " << lane;
    }
  }
}

TEST(Calibrators, AreTakenFromTheClearedOnesAndBeginAsNew) {
  Calibrators calibrators(kPartitions);
  Calibrator& one = calibrators.add(3, 17);
  one.at(5, Calibrator::kA) = 9;
  calibrators.clear(3);
  Calibrator& other = calibrators.add(4, 19);
  EXPECT_EQ(&other, &one);
  EXPECT_EQ(other.floats, kFirstCalibrator.floats);
}

TEST(Calibrators, BeginAsTheFirstOne) {
  Calibrators calibrators(kPartitions);
  const Calibrator& one = calibrators.add(3, 17);
  EXPECT_EQ(one.floats, kFirstCalibrator.floats);
  constexpr std::array<float, Calibrator::kNumbers> kExpected = {1, 0, 1.5F, 0.1F, 0, 0, 0.5F, 0, 0.1F};
  for (std::size_t lane = 1; lane < kLanes; ++lane) {
    for (std::size_t number = 0; number < Calibrator::kNumbers; ++number) {
      EXPECT_EQ(one.at(lane, number), kExpected[number]);
    }
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
  other.calibrators().find(9)->at(3, Calibrator::kB) = 0.5F;
  EXPECT_NE(one.digest(), other.digest());
  EXPECT_TRUE(other.survey().finite);
  other.calibrators().find(9)->at(3, Calibrator::kBC) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(other.survey(4).finite);
  EXPECT_EQ(other.survey().used, 0U);
  other.clear(4);
  EXPECT_EQ(other.digest(), 0U);
}

}  // namespace
}  // namespace cpt
