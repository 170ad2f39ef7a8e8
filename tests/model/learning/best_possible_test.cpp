#include <gtest/gtest.h>

#include <tuple>
#include <vector>

#include "model/learning/losses.h"
#include "model/random_stream.h"

namespace cpt {
namespace {

Batch pairs(const std::vector<std::tuple<std::size_t, const char*, float>>& rows) {
  Batch batch;
  for (const auto& [feature, label, importance] : rows) {
    batch.add_feature(feature_number(feature), 1);
    batch.finish_example(label, importance, {});
  }
  return batch;
}

double best_of(const Batch& batch) {
  BestPossible best;
  for (std::size_t i = 0; i < batch.size(); ++i) best.add(batch[i]);
  return best.mean_squared();
}

TEST(BestPossible, IsTheLossOfTheFrequenciesOfTheseExamples) {
  // x = 1: a, a, a, b; x = 2: c, d; x = 3: a.
  const Batch batch =
      pairs({{1, "a", 1}, {2, "c", 1}, {1, "b", 1}, {1, "a", 1}, {3, "a", 1}, {2, "d", 1}, {1, "a", 1}});
  const double expected = (3 * 0.25 * 0.25 + 1 * 0.75 * 0.75 + 2 * 0.5 * 0.5 + 0) / 7;
  EXPECT_DOUBLE_EQ(best_of(batch), expected);
}

TEST(BestPossible, IsWeightedByImportance) {
  EXPECT_DOUBLE_EQ(best_of(pairs({{1, "a", 3}, {1, "b", 1}})), best_of(pairs({{1, "a", 1}, {1, "a", 2}, {1, "b", 1}})));
  EXPECT_DOUBLE_EQ(best_of(pairs({{1, "a", 3}, {1, "b", 1}})), (3 * 0.0625 + 0.5625) / 4);
}

TEST(BestPossible, IsZeroWhereXTellsTheLabelAndWhereThereIsNothing) {
  EXPECT_EQ(best_of(pairs({{1, "a", 1}, {2, "b", 1}, {1, "a", 1}})), 0);
  EXPECT_EQ(best_of(Batch()), 0);
}

}  // namespace
}  // namespace cpt
