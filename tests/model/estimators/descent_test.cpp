// Steps inside one block: the exit of a new label, the exit of a draw, and the probabilities of all exits.
#include "model/estimators/descent.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "cpt/hashing.h"

namespace cpt {
namespace {

// A block of `nodes` nodes in heap order: the positions below them hold leaves. `p` at every node.
struct TestBlock {
  explicit TestBlock(std::uint32_t nodes, float p) : options{.bits = kLeastBits}, weights(options.bits) {
    for (std::uint32_t position = 31; position >= 1; --position) {
      const bool hangs = position == 1 || position / 2 <= nodes;
      if (position <= nodes) {
        content.child[position] = Child::node();
        content.leaves[position] = content.leaves[2 * position] + content.leaves[2 * position + 1];
      } else if (hangs) {
        content.child[position] = Child::leaf(position);
        content.leaves[position] = 1;
      }
      row[position / 2] = p;
    }
  }

  ModelOptions options;
  WeightTable weights;
  BlockNodes content;
  Row row{};
};

TEST(SettleInBlock, GoesWhereTheRegressorsPointWhereSidesAreEven) {
  for (const float p : {0.9F, 0.1F}) {
    const TestBlock block(15, p);
    InsertionState insertion;
    EXPECT_EQ(insertion_exit(block.row, block.content, block.options, insertion), p > 0.5F ? 31 : 16);
    EXPECT_EQ(insertion.disagreements, 0U);
  }
}

TEST(SettleInBlock, GoesLeftWithoutAPreference) {
  for (const float p : {0.5F, std::numeric_limits<float>::quiet_NaN()}) {
    const TestBlock block(15, p);
    InsertionState insertion;
    EXPECT_EQ(insertion_exit(block.row, block.content, block.options, insertion), 16);
    EXPECT_EQ(insertion.disagreements, 0U);
  }
}

// Of 9 nodes in heap order the 10 leaves are 6 on the left of the root and 4 on its right. So a label that only heeds
// balance goes right there, and then left where sides are even, at positions 3 and 6.
TEST(SettleInBlock, CountsWhereItGoesAgainstTheRegressors) {
  for (const float p : {1.0F, 0.0F}) {
    TestBlock block(9, p);
    block.options.alpha = 1;
    InsertionState insertion;
    EXPECT_EQ(insertion_exit(block.row, block.content, block.options, insertion), 12);
    EXPECT_EQ(insertion.disagreements, p == 1 ? 2U : 1U);
  }
}

TEST(SettleInBlock, TossesFairCoinsInRandomTrees) {
  TestBlock block(15, 1.0F);
  block.options.tree = TreeKind::kRandom;
  constexpr int kLabels = 16'000;
  std::map<std::uint8_t, int> counts;
  for (std::uint64_t label = 0; label < kLabels; ++label) {
    InsertionState insertion = begin_insertion(block.options.seed, label);
    const std::uint8_t position = insertion_exit(block.row, block.content, block.options, insertion);
    ++counts[position];
    InsertionState again = begin_insertion(block.options.seed, label);
    EXPECT_EQ(insertion_exit(block.row, block.content, block.options, again), position);
    EXPECT_EQ(again.coins, insertion.coins);
  }
  ASSERT_EQ(counts.size(), 16U);
  // Six standard deviations of a binomial with p = 1/16.
  const double deviation = std::sqrt(kLabels * (1.0 / 16) * (15.0 / 16));
  for (const auto& [position, count] : counts) EXPECT_NEAR(count, kLabels / 16, 6 * deviation) << int{position};
}

TEST(DrawInBlock, LeadsToPlacesAsOftenAsTheyAreProbable) {
  TestBlock block(15, 0);
  for (std::size_t slot = 1; slot <= 15; ++slot) block.row[slot] = 0.06F * static_cast<float>(slot);
  const NodeRegressors regressors(block.weights, block.options);
  constexpr int kDraws = 40'000;
  std::map<std::uint8_t, int> counts;
  std::map<std::uint8_t, double> probabilities;
  for (int i = 0; i < kDraws; ++i) {
    DrawState draw_state{mix(static_cast<std::uint64_t>(i)), 1};
    const std::uint8_t position = draw_exit(block.row, block.content, regressors, draw_state);
    ++counts[position];
    probabilities[position] = draw_state.probability;
  }
  double sum = 0;
  for_each_exit(block.row, block.content, regressors, 1, [&](std::uint8_t position, double probability) {
    sum += probability;
    const double deviation = std::sqrt(kDraws * probability * (1 - probability));
    EXPECT_NEAR(counts[position], kDraws * probability, 6 * deviation + 1) << int{position};
    if (counts[position] > 0) {
      EXPECT_DOUBLE_EQ(probabilities[position], probability) << int{position};
    }
  });
  EXPECT_NEAR(sum, 1, 1e-12);
}

TEST(ReachInBlock, IsTheProductOfTheClippedProbabilitiesOnTheWay) {
  TestBlock block(9, 0);
  for (std::size_t slot = 1; slot <= 15; ++slot)
    block.row[slot] = 0.1F * static_cast<float>(slot % 11);  // 0 and 1, too
  const NodeRegressors regressors(block.weights, block.options);
  std::size_t visited = 0;
  for_each_exit(block.row, block.content, regressors, 0.25, [&](std::uint8_t position, double probability) {
    ++visited;
    double expected = 0.25;
    for (std::uint32_t at = position; at > 1; at /= 2) {
      const double right = std::clamp<double>(block.row[at / 2], block.options.clip, 1 - block.options.clip);
      expected *= at % 2 == 1 ? right : 1 - right;
    }
    EXPECT_NEAR(probability, expected, 1e-15) << int{position};
    EXPECT_EQ(block.content.child[position].kind(), Child::Kind::kLeaf);
  });
  EXPECT_EQ(visited, 10U);
}

TEST(Steps, LeaveABlockWithoutNodesByItsTop) {
  TestBlock block(0, 0.5F);
  const NodeRegressors regressors(block.weights, block.options);
  InsertionState insertion;
  DrawState draw_state{7, 0.5};
  EXPECT_EQ(insertion_exit(block.row, block.content, block.options, insertion), 1);
  EXPECT_EQ(draw_exit(block.row, block.content, regressors, draw_state), 1);
  EXPECT_EQ(draw_state.probability, 0.5);
}

}  // namespace
}  // namespace cpt
