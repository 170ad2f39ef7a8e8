// Which rows were touched, what they held, and how often they were updated.
#include "train/merge/touched_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>
#include <vector>

namespace cpt {
namespace {

class TouchedRowsOfATable : public ::testing::Test {
 protected:
  void touch(const std::vector<std::uint64_t>& indices) {
    std::vector<float*> rows;
    for (const std::uint64_t index : indices) rows.push_back(table_.row(index));
    touched_.touch(rows);
  }
  std::vector<std::uint64_t> indices() {
    std::vector<std::uint64_t> indices;
    for (const TouchedRows::Entry& entry : touched_.sorted()) indices.push_back(entry.index);
    return indices;
  }
  // The first weight of a touched row when it was first touched.
  float before(std::size_t position) { return touched_.sorted()[position].before[1]; }

  using Indices = std::vector<std::uint64_t>;
  WeightTable table_{10};
  TouchedRows touched_{table_};
};

TEST_F(TouchedRowsOfATable, ComeOnceEachInAscendingOrder) {
  touch({900, 5, 64, 5});
  touch({1023, 64, 0, 63});
  EXPECT_EQ(indices(), (Indices{0, 5, 63, 64, 900, 1023}));
  touch({7});
  EXPECT_EQ(indices(), (Indices{0, 5, 7, 63, 64, 900, 1023}));
  EXPECT_TRUE(touched_.contains(64));
  EXPECT_FALSE(touched_.contains(65));
}

TEST_F(TouchedRowsOfATable, AreFoundByTheirIndex) {
  touch({900, 5, 64, 1023});
  touched_.sorted();
  const std::vector<std::pair<std::uint64_t, std::size_t>> positions{
      {0, 0}, {5, 0}, {6, 1}, {63, 1}, {64, 1}, {65, 2}, {900, 2}, {901, 3}, {1023, 3}, {1024, 4}, {5000, 4}};
  for (const auto& [index, position] : positions) EXPECT_EQ(touched_.position(index), position) << index;
}

// Each with what it held.
TEST_F(TouchedRowsOfATable, AreSortedWhateverTheOrderOfTouches) {
  std::mt19937_64 random(1);
  constexpr std::uint64_t kRows = 1 << 10;
  for (std::uint64_t i = 0; i < kRows; ++i) table_.row(i)[1] = static_cast<float>(i);
  std::set<std::uint64_t> expected;
  for (int turn = 0; turn < 5; ++turn) {
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t index = random() % kRows;
      touch({index});
      table_.row(index)[1] = -1;
      expected.insert(index);
    }
    ASSERT_EQ(indices(), Indices(expected.begin(), expected.end()));
    for (std::size_t i = 0; i < touched_.sorted().size(); ++i)
      ASSERT_EQ(before(i), static_cast<float>(touched_.sorted()[i].index));
  }
}

TEST_F(TouchedRowsOfATable, KeepWhatTheyHeldAtTheFirstTouch) {
  table_.row(5)[1] = 1;
  touch({5});
  table_.row(5)[1] = 2;
  touch({5, 6});
  table_.row(5)[1] = 3;
  EXPECT_EQ(before(0), 1);
  EXPECT_EQ(before(1), 0);
}

TEST_F(TouchedRowsOfATable, CountEveryUpdate) {
  touch({1, 2, 2});
  touch({2});
  EXPECT_EQ(touched_.updates(), 4U);
}

TEST_F(TouchedRowsOfATable, AreNoneAtFirstAndAfterClear) {
  EXPECT_EQ(indices(), Indices{});
  EXPECT_EQ(touched_.updates(), 0U);
  EXPECT_FALSE(touched_.contains(0));
  touch({5, 6, 70});
  touched_.clear();
  EXPECT_EQ(indices(), Indices{});
  EXPECT_EQ(touched_.updates(), 0U);
  EXPECT_FALSE(touched_.contains(5));
  table_.row(5)[1] = 9;
  touch({5});
  EXPECT_EQ(indices(), Indices{5});
  EXPECT_EQ(before(0), 9);
}

}  // namespace
}  // namespace cpt
