// No full binary tree has a smaller weighted sum of depths than Huffman's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>

#include "model/random_stream.h"
#include "model/tree/given_tree.h"

namespace cpt {
namespace {

using Counts = std::vector<std::uint64_t>;
using ::testing::ElementsAre;

std::uint64_t cost(const Counts& counts, const std::vector<std::string>& paths) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) sum += counts[i] * paths[i].size();
  return sum;
}

// Over all ways to part each set of leaves in two: the weight of a set is paid once for every node above it.
class BestCost {
 public:
  explicit BestCost(const Counts& counts) : counts_(counts) {}
  std::uint64_t of_all() { return of((1U << counts_.size()) - 1); }

 private:
  std::uint64_t weight(std::uint32_t set) const {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) sum += (set >> i & 1) * counts_[i];
    return sum;
  }

  std::uint64_t of(std::uint32_t set) {
    if ((set & (set - 1)) == 0) return 0;
    if (const auto known = known_.find(set); known != known_.end()) return known->second;
    std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
    for (std::uint32_t left = (set - 1) & set; left > 0; left = (left - 1) & set) {
      best = std::min(best, of(left) + of(set ^ left));
    }
    return known_[set] = best + weight(set);
  }

  Counts counts_;
  std::map<std::uint32_t, std::uint64_t> known_;
};

void expect_full(const std::vector<std::string>& paths) {
  const std::vector<std::string_view> views(paths.begin(), paths.end());
  EXPECT_NO_THROW(leaf_splits_of(views));
}

TEST(Huffman, CostsWhatTheBestTreeCosts) {
  Dice dice(1);
  for (std::size_t labels = 1; labels <= 9; ++labels) {
    for (const std::uint64_t most : {1U, 3U, 10U, 1000U}) {
      Counts counts;
      for (std::size_t i = 0; i < labels; ++i) counts.push_back(1 + dice.below(most));
      const std::vector<std::string> paths = huffman_paths(counts);
      expect_full(paths);
      EXPECT_EQ(cost(counts, paths), BestCost(counts).of_all()) << ::testing::PrintToString(counts);
    }
  }
}

TEST(Huffman, IsBalancedWhereAllAreEquallyCommon) {
  for (const std::string& path : huffman_paths(Counts(256, 7))) EXPECT_EQ(path.size(), 8U);
}

// Sums of 1, 1, 2, 3, 5, ... stay below the next but one, so each merge takes the last one's result: a chain.
TEST(Huffman, IsAChainForFibonacciNumbers) {
  Counts counts{1, 1};
  while (counts.size() < 90) counts.push_back(counts.end()[-1] + counts.end()[-2]);
  const std::vector<std::string> paths = huffman_paths(counts);
  expect_full(paths);
  EXPECT_EQ(paths[0].size(), 89U);
  for (std::size_t i = 1; i < counts.size(); ++i) EXPECT_EQ(paths[i].size(), 90 - i);
}

TEST(Huffman, PutsTheHeavierOnTheLeft) {
  EXPECT_THAT(huffman_paths(Counts{1, 2}), ElementsAre("1", "0"));
  EXPECT_THAT(huffman_paths(Counts{4, 1, 2}), ElementsAre("0", "11", "10"));
}

// An earlier leaf is lighter than a later one, and a leaf lighter than a subtree.
TEST(Huffman, BreaksTiesByPlaceInTheList) {
  EXPECT_THAT(huffman_paths(Counts{1, 1}), ElementsAre("1", "0"));
  EXPECT_THAT(huffman_paths(Counts{1, 1, 2}), ElementsAre("01", "00", "1"));
  EXPECT_THAT(huffman_paths(Counts{1, 1, 1, 1}), ElementsAre("11", "10", "01", "00"));
  EXPECT_THAT(huffman_paths(Counts{1, 1, 1, 1, 2}), ElementsAre("001", "000", "11", "10", "01"));
}

TEST(Huffman, TakesCountsUpToTheLargestSum) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  EXPECT_THAT(huffman_paths(Counts{kMost - 2, 1, 1}), ElementsAre("0", "11", "10"));
}

TEST(Huffman, MayHaveOneLeafOrNone) {
  EXPECT_THAT(huffman_paths(Counts{}), ElementsAre());
  EXPECT_THAT(huffman_paths(Counts{5}), ElementsAre(""));
}

}  // namespace
}  // namespace cpt
