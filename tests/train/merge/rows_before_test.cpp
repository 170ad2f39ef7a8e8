// Which rank merges a row, and what its rows were at the last merge.
#include "train/merge/rows_before.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace cpt {
namespace {

constexpr int kBitsOf16Runs = 14;

class Dealing : public ::testing::TestWithParam<int> {
 protected:
  RowDealing dealing_{GetParam()};
};
INSTANTIATE_TEST_SUITE_P(Ranks, Dealing, ::testing::Values(1, 2, 3, 5, 64));

TEST_P(Dealing, GivesRanksRunsInTurn) {
  for (std::uint64_t index = 0; index < std::uint64_t{1} << kBitsOf16Runs; ++index) {
    EXPECT_EQ(dealing_.rank_of(index), index / RowDealing::kRun % static_cast<std::uint64_t>(GetParam()));
  }
}

TEST_P(Dealing, NumbersTheRowsOfARankInOrder) {
  const std::uint64_t rows = std::uint64_t{1} << kBitsOf16Runs;
  std::vector<std::uint64_t> next(static_cast<std::size_t>(GetParam()));
  for (std::uint64_t index = 0; index < rows; ++index) {
    EXPECT_EQ(dealing_.position(index), next[dealing_.rank_of(index)]++);
  }
  for (const std::uint64_t count : next) EXPECT_LE(count, dealing_.most(rows));
}

TEST_P(Dealing, KeepsOfEachRegionWhatARankMerges) {
  WeightTable table(kBitsOf16Runs);
  for (std::uint64_t index = 0; index < table.rows(); index += 3) table.row(index)[1] = static_cast<float>(index);
  const std::vector<Region> regions{{0, 100}, {1500, 9000}};
  std::vector<RowsBefore> of_ranks;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(GetParam()); ++rank) {
    of_ranks.emplace_back(table, regions, dealing_, rank);
  }
  for (const Region& region : regions) {
    for (std::uint64_t index = region.first; index < region.first + region.rows; ++index) {
      const Row expected{0, index % 3 == 0 ? static_cast<float>(index) : 0};
      ASSERT_EQ(of_ranks[dealing_.rank_of(index)][index], expected) << index;
    }
  }
  EXPECT_EQ(of_ranks[dealing_.rank_of(102)][102], Row{}) << "of no region";
}

TEST_P(Dealing, KeepsWhatItIsGiven) {
  WeightTable table(kBitsOf16Runs);
  const std::size_t rank = dealing_.rank_of(5000);
  RowsBefore before(table, {table.whole()}, dealing_, rank);
  before[5000] = Row{1, 2};
  EXPECT_EQ(before[5000], (Row{1, 2}));
  EXPECT_EQ(before[5001], Row{});
  EXPECT_EQ(table.row(5000)[1], 0);
}

}  // namespace
}  // namespace cpt
