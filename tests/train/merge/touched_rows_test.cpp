// Which rows were touched, and how often they were updated.
#include "train/merge/touched_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace cpt {
namespace {

class TouchedRowsOfATable : public ::testing::Test {
 protected:
  using Indices = std::vector<std::uint64_t>;

  void touch(const Indices& indices) {
    std::vector<float*> rows;
    for (const std::uint64_t index : indices) rows.push_back(table_.row(index));
    touched_.touch(rows);
  }
  Indices touched_in(std::uint64_t begin, std::uint64_t end) const {
    Indices indices;
    touched_.append_to(indices, begin, end);
    return indices;
  }
  Indices touched() const {
    const Indices indices = touched_in(0, table_.rows());
    EXPECT_EQ(touched_.size(), indices.size());
    return indices;
  }

  WeightTable table_{10};
  TouchedRows touched_{table_, true};
};

TEST_F(TouchedRowsOfATable, ComeOnceEachInAscendingOrder) {
  touch({900, 5, 64, 5});
  touch({1023, 64, 0, 63});
  EXPECT_EQ(touched(), (Indices{0, 5, 63, 64, 900, 1023}));
  touch({7});
  EXPECT_EQ(touched(), (Indices{0, 5, 7, 63, 64, 900, 1023}));
  EXPECT_TRUE(touched_.contains(64));
  EXPECT_FALSE(touched_.contains(65));
}

TEST_F(TouchedRowsOfATable, ComeInParts) {
  touch({0, 63, 64, 127, 128, 1023});
  EXPECT_EQ(touched_in(0, 64), (Indices{0, 63}));
  EXPECT_EQ(touched_in(64, 192), (Indices{64, 127, 128}));
  EXPECT_EQ(touched_in(960, 2048), Indices{1023});  // beyond the table there is nothing
  EXPECT_EQ(touched_in(2048, 4096), Indices{});
}

TEST_F(TouchedRowsOfATable, AreFoundWhateverTheOrderOfTouches) {
  std::mt19937_64 random(1);
  constexpr std::uint64_t kRows = 1 << 10;
  std::set<std::uint64_t> expected;
  for (int turn = 0; turn < 5; ++turn) {
    for (int i = 0; i < 100; ++i) {
      const std::uint64_t index = random() % kRows;
      touch({index});
      expected.insert(index);
    }
    ASSERT_EQ(touched(), Indices(expected.begin(), expected.end()));
  }
}

TEST_F(TouchedRowsOfATable, AddUpTheirLane0BeforeTheFirstTouch) {
  for (const std::uint64_t index : {5U, 6U, 7U}) table_.row(index)[0] = static_cast<float>(index);
  touch({5, 7, 5});
  table_.row(5)[0] = 100;
  touch({5});
  EXPECT_EQ(touched_.lane_0_before(), 12);
  touched_.clear();
  EXPECT_EQ(touched_.lane_0_before(), 0);
  touch({5});
  EXPECT_EQ(touched_.lane_0_before(), 100);
}

TEST_F(TouchedRowsOfATable, CountEveryUpdate) {
  touch({1, 2, 2});
  touch({2});
  EXPECT_EQ(touched_.updates(), 4U);
  EXPECT_EQ(touched_.size(), 2U);
}

TEST_F(TouchedRowsOfATable, AreNoneAtFirstAndAfterClear) {
  EXPECT_EQ(touched(), Indices{});
  EXPECT_EQ(touched_.updates(), 0U);
  EXPECT_FALSE(touched_.contains(0));
  touch({5, 6, 70});
  touched_.clear();
  EXPECT_EQ(touched(), Indices{});
  EXPECT_EQ(touched_.updates(), 0U);
  EXPECT_FALSE(touched_.contains(5));
  touch({5});
  EXPECT_EQ(touched(), Indices{5});
}

}  // namespace
}  // namespace cpt
