// Any full binary tree, given as the paths of its leaves, is grown by splits.
#include "model/tree/given_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "model/random_tree.h"

namespace cpt {
namespace {

using Paths = std::vector<std::string>;

std::vector<LeafSplit> leaf_splits(const Paths& paths) {
  const std::vector<std::string_view> views(paths.begin(), paths.end());
  return leaf_splits_of(views);
}

// By nothing but who split whose leaf.
Paths paths_by_splits(const std::vector<LabelId>& splits) {
  Paths paths;
  for (const LabelId old : splits) {
    if (old == kNoLabel) {
      paths.emplace_back();
      continue;
    }
    const std::string node = paths[old];
    paths[old] = node + "0";
    paths.push_back(node + "1");
  }
  return paths;
}

std::vector<LabelId> splits_of(const Tree& tree) {
  std::vector<LabelId> splits;
  for (LabelId label = 0; label < tree.labels(); ++label) splits.push_back(tree.split_for(label));
  return splits;
}

// Every leaf joins once, by splitting one that is there, and ends where it was given.
void expect_to_grow(const Paths& paths) {
  const std::vector<LeafSplit> order = leaf_splits(paths);
  ASSERT_EQ(order.size(), paths.size());
  std::vector<LabelId> splits;
  std::vector<bool> joined(paths.size(), false);
  for (const LeafSplit& leaf_split : order) {
    ASSERT_LT(leaf_split.leaf, paths.size());
    EXPECT_FALSE(joined[leaf_split.leaf]);
    joined[leaf_split.leaf] = true;
    if (splits.empty()) {
      ASSERT_EQ(leaf_split.split, kNoLabel);
    } else {
      ASSERT_LT(leaf_split.split, splits.size());
    }
    splits.push_back(leaf_split.split);
  }
  const Paths grown = paths_by_splits(splits);
  for (std::size_t i = 0; i < order.size(); ++i) EXPECT_EQ(grown[i], paths[order[i].leaf]);
}

void expect_same_numbers(const Tree& tree) {
  const std::vector<LabelId> splits = splits_of(tree);
  const std::vector<LeafSplit> order = leaf_splits(paths_by_splits(splits));
  ASSERT_EQ(order.size(), splits.size());
  for (LabelId label = 0; label < splits.size(); ++label) {
    ASSERT_EQ(order[label].leaf, label);
    ASSERT_EQ(order[label].split, splits[label]);
  }
}

TEST(GivenTree, GivesLabelsTheirNumbersAgain) {
  for (const std::size_t labels : {1U, 2U, 3U, 5U, 16U, 17U, 100U, 3000U}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) expect_same_numbers(random_tree(labels, seed));
  }
  expect_same_numbers(chain(2000));
}

TEST(GivenTree, GrowsFromLeavesInAnyOrder) {
  std::mt19937 random(1);
  for (const std::size_t labels : {2U, 3U, 7U, 50U, 500U}) {
    Paths paths = paths_by_splits(splits_of(random_tree(labels, labels)));
    for (int i = 0; i < 5; ++i) {
      std::ranges::shuffle(paths, random);
      expect_to_grow(paths);
    }
  }
}

// Where several may join, the one that comes first does: here once the root is split.
TEST(GivenTree, TakesTheFirstThatMayJoin) {
  const auto leaves = [](const Paths& paths) {
    std::vector<std::uint32_t> order;
    for (const LeafSplit& leaf_split : leaf_splits(paths)) order.push_back(leaf_split.leaf);
    return order;
  };
  EXPECT_EQ(leaves({"00", "10", "01", "11"}), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(leaves({"00", "10", "11", "01"}), (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(leaves({"11", "01", "10", "00"}), (std::vector<std::uint32_t>{3, 2, 0, 1}));
}

TEST(GivenTree, MayBeOneLeafOrNone) {
  EXPECT_TRUE(leaf_splits({}).empty());
  expect_to_grow({""});
}

// As deep as a stack of calls would not go.
TEST(GivenTree, MayBeVeryDeep) {
  constexpr std::size_t kDepth = 2'000'000;
  const std::string left(kDepth, '0');
  try {
    leaf_splits({left, "1"});
    FAIL() << "a node has one child";
  } catch (const InvalidTree& error) {
    EXPECT_EQ(error.leaf(), 0U);
    EXPECT_EQ(error.missing(), "01");
  }
  for (const char side : {'0', '1'}) {
    Paths leaves;
    for (std::size_t depth = 0; depth < 3000; ++depth) {
      leaves.push_back(std::string(depth, side) + (side == '0' ? '1' : '0'));
    }
    leaves.push_back(std::string(3000, side));
    expect_to_grow(leaves);
  }
}

class Flawed : public ::testing::Test {
 protected:
  static InvalidTree flaw_of(const Paths& paths) {
    try {
      leaf_splits(paths);
    } catch (const InvalidTree& error) {
      EXPECT_EQ(error.fault(), Fault::kBadData);
      return error;
    }
    ADD_FAILURE() << "taken for a tree: " << ::testing::PrintToString(paths);
    return {0, ""};
  }

  static void expect_missing(const Paths& paths, std::size_t leaf, const std::string& missing) {
    const InvalidTree flaw = flaw_of(paths);
    EXPECT_EQ(flaw.flaw(), InvalidTree::Flaw::kOneChild) << ::testing::PrintToString(paths);
    EXPECT_EQ(flaw.leaf(), leaf);
    EXPECT_EQ(flaw.missing(), missing);
  }

  static void expect_clash(const Paths& paths, InvalidTree::Flaw kind, std::size_t leaf, std::size_t other) {
    const InvalidTree flaw = flaw_of(paths);
    EXPECT_EQ(flaw.flaw(), kind) << ::testing::PrintToString(paths);
    EXPECT_EQ(flaw.leaf(), leaf);
    EXPECT_EQ(flaw.other(), other);
  }
};

TEST_F(Flawed, LeavesAtOnePlace) {
  expect_clash({"1", "0", "1"}, InvalidTree::Flaw::kSamePath, 2, 0);
  expect_clash({"", ""}, InvalidTree::Flaw::kSamePath, 1, 0);
}

TEST_F(Flawed, LeavesBelowOthers) {
  expect_clash({"00", "01", "0", "1"}, InvalidTree::Flaw::kBelowLeaf, 0, 2);
  expect_clash({"0", ""}, InvalidTree::Flaw::kBelowLeaf, 0, 1);
}

TEST_F(Flawed, NodesWithOneChild) {
  expect_missing({"0"}, 0, "1");
  expect_missing({"1"}, 0, "0");
  expect_missing({"00", "1"}, 0, "01");
  expect_missing({"0", "10"}, 1, "11");
  expect_missing({"0", "101", "11"}, 1, "100");
  expect_missing({"00", "010", "1"}, 1, "011");
}

// Without any one of its leaves a tree is none, and with one more neither.
TEST_F(Flawed, EveryTreeThatLacksALeafOrHasOneMore) {
  const Paths whole = paths_by_splits(splits_of(random_tree(40, 9)));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    Paths paths = whole;
    paths.erase(paths.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_EQ(flaw_of(paths).flaw(), InvalidTree::Flaw::kOneChild);
    paths = whole;
    paths.push_back(whole[i] + "0");
    EXPECT_EQ(flaw_of(paths).flaw(), InvalidTree::Flaw::kBelowLeaf);
  }
}

}  // namespace
}  // namespace cpt
