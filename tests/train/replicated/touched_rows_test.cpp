// Which rows were touched, what they held, and how often they were updated.
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
  // Touches the rows and changes them.
  void change(const Indices& indices) {
    touch(indices);
    for (const std::uint64_t index : indices) table_.row(index)[1] += 0.5F;
  }
  // The changed rows, as each() finds them.
  Indices changed() {
    touched_.keep_changed([](std::uint64_t, const Row&) {});
    Indices indices;
    touched_.each(0, table_.rows(), [&](std::uint64_t index) { indices.push_back(index); });
    EXPECT_EQ(touched_.size(), indices.size());
    return indices;
  }

  WeightTable table_{10};
  TouchedRows touched_{table_, {table_.whole()}};
};

TEST_F(TouchedRowsOfATable, ComeOnceEachInAscendingOrder) {
  change({900, 5, 64, 5});
  change({1023, 64, 0, 63});
  EXPECT_EQ(changed(), (Indices{0, 5, 63, 64, 900, 1023}));
  change({7});
  EXPECT_EQ(changed(), (Indices{0, 5, 7, 63, 64, 900, 1023}));
  EXPECT_TRUE(touched_.contains(64));
  EXPECT_FALSE(touched_.contains(65));
}

TEST_F(TouchedRowsOfATable, ComeInParts) {
  change({0, 63, 64, 127, 128, 1023});
  changed();
  const auto from = [&](std::uint64_t begin, std::uint64_t end) {
    Indices indices;
    touched_.each(begin, end, [&](std::uint64_t index) { indices.push_back(index); });
    return indices;
  };
  EXPECT_EQ(from(0, 64), (Indices{0, 63}));
  EXPECT_EQ(from(64, 192), (Indices{64, 127, 128}));
  EXPECT_EQ(from(960, 2048), Indices{1023});  // beyond the table there is nothing
  EXPECT_EQ(from(2048, 4096), Indices{});
}

// Each with what it held.
TEST_F(TouchedRowsOfATable, AreFoundWhateverTheOrderOfTouches) {
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
    ASSERT_EQ(changed(), Indices(expected.begin(), expected.end()));
    for (const std::uint64_t index : expected) ASSERT_EQ(touched_.before(index)[1], static_cast<float>(index));
  }
}

TEST_F(TouchedRowsOfATable, KeepWhatTheyHeldAtTheFirstTouch) {
  table_.row(5)[1] = 1;
  change({5});
  change({5, 6});
  changed();
  EXPECT_EQ(touched_.before(5)[1], 1);
  EXPECT_EQ(touched_.before(6)[1], 0);
}

TEST_F(TouchedRowsOfATable, AreForgottenIfTheyDidNotChange) {
  change({5, 6, 7, 8, 70});
  touch({9, 71});
  table_.row(6)[1] = table_.row(8)[1] = 0;  // as before
  EXPECT_EQ(touched_.size(), 7U);
  std::set<std::uint64_t> visited;
  touched_.keep_changed([&](std::uint64_t index, const Row& before) {
    EXPECT_EQ(before[1], 0);
    visited.insert(index);
  });
  EXPECT_EQ(visited, (std::set<std::uint64_t>{5, 7, 70}));
  EXPECT_EQ(changed(), (Indices{5, 7, 70}));
  for (const std::uint64_t index : {6U, 8U, 9U, 71U}) EXPECT_FALSE(touched_.contains(index)) << index;
}

TEST_F(TouchedRowsOfATable, CountEveryUpdate) {
  touch({1, 2, 2});
  touch({2});
  EXPECT_EQ(touched_.updates(), 4U);
  EXPECT_EQ(touched_.size(), 2U);
}

TEST_F(TouchedRowsOfATable, AreNoneAtFirstAndAfterClear) {
  EXPECT_EQ(changed(), Indices{});
  EXPECT_EQ(touched_.updates(), 0U);
  EXPECT_FALSE(touched_.contains(0));
  touch({5, 6, 70});
  touched_.clear();
  EXPECT_EQ(changed(), Indices{});
  EXPECT_EQ(touched_.updates(), 0U);
  EXPECT_FALSE(touched_.contains(5));
  table_.row(5)[1] = 9;
  change({5});
  EXPECT_EQ(changed(), Indices{5});
  EXPECT_EQ(touched_.before(5)[1], 9);
}

}  // namespace
}  // namespace cpt
