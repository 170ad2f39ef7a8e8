// Compares the code of a block with that of the paper, computed in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "model/literal_pecoc.h"
#include "model/weights/hadamard_code.h"
#include "model/weights/kernel_inputs.h"

namespace cpt {
namespace {

using Code = std::vector<std::vector<int>>;  // [row][column]

// A node as the paper has it: the position of each column, and the lane of each row but the constant one.
struct Node {
  std::uint32_t slot = 1;
  std::vector<std::uint32_t> positions;
  std::vector<std::uint32_t> lanes;
};

std::vector<Node> nodes_of(int arity) {
  std::vector<Node> nodes;
  const std::vector<std::uint32_t> slots = arity == 4   ? std::vector<std::uint32_t>{1, 4, 5, 6, 7}
                                           : arity == 8 ? std::vector<std::uint32_t>{1, 8, 9, 10, 11, 12, 13, 14, 15}
                                                        : std::vector<std::uint32_t>{1};
  for (const std::uint32_t slot : slots) {
    Node node{slot, {}, {}};
    const std::uint32_t levels = arity == 16 ? 4 : arity == 4 ? 2 : slot == 1 ? 3 : 1;
    for (std::uint32_t c = 0; c < 1U << levels; ++c) node.positions.push_back((slot << levels) + c);
    for (std::uint32_t level = 0; level < levels; ++level) {
      for (std::uint32_t j = 0; j < 1U << level; ++j) node.lanes.push_back((slot << level) + j);
    }
    nodes.push_back(node);
  }
  return nodes;
}

// The row of the paper's code that is, but for being inverted, the row of a lane: found, not computed.
std::size_t row_of_lane(const Code& code, WideNode node, std::uint32_t lane) {
  for (std::size_t row = 1; row < code.size(); ++row) {
    bool same = true;
    for (std::uint32_t c = 0; c < code.size(); ++c) same = same && row_contains(node, lane, c) == (code[row][c] == 0);
    if (same) return row;
  }
  ADD_FAILURE() << "lane " << lane << " is no row of the code";
  return 0;
}

// The paper's estimate of every column of a node from the estimates of a block's lanes.
std::vector<double> estimates(const Node& node, const Row& lanes) {
  const std::size_t k = node.positions.size();
  const Code code = hadamard_code(k);
  const WideNode wide{node.slot, static_cast<std::uint32_t>(std::bit_width(k)) - 1};
  std::vector<double> row_estimate(k);
  for (const std::uint32_t lane : node.lanes) {
    row_estimate[row_of_lane(code, wide, lane)] = 1 - static_cast<double>(lanes[lane]);
  }
  return pecoc_estimates(k, row_estimate);
}

// The product of the sides from a node to a position below it.
double product_of_sides(const Row& sides, std::uint32_t slot, std::uint32_t position) {
  double product = 1;
  for (std::uint32_t at = position; at != slot; at /= 2) {
    const auto right = static_cast<double>(sides[at / 2]);
    product *= at % 2 == 1 ? right : 1 - right;
  }
  return product;
}

class Ways : public testing::TestWithParam<int> {
 protected:
  Row random_lanes() {
    Row lanes{};
    for (float& lane : lanes) lane = std::uniform_real_distribution<float>(0, 1)(dice_);
    return lanes;
  }
  std::uint32_t random_places() { return static_cast<std::uint32_t>(dice_()); }

  std::mt19937 dice_{7};
};
INSTANTIATE_TEST_SUITE_P(Model, Ways, testing::Values(4, 8, 16));

TEST_P(Ways, EveryLaneBelongsToOneNode) {
  std::vector<int> owners(kLanes, 0);
  for (const Node& node : nodes_of(GetParam())) {
    for (const std::uint32_t lane : node.lanes) {
      ++owners[lane];
      EXPECT_EQ(node_of_slot(GetParam(), lane).slot, node.slot) << lane;
    }
  }
  for (std::size_t lane = 1; lane < kLanes; ++lane) EXPECT_EQ(owners[lane], 1) << lane;
}

TEST_P(Ways, SidesMultiplyToThePapersEstimatesClippedAndNormalized) {
  for (int trial = 0; trial < 200; ++trial) {
    const Row lanes = random_lanes();
    const std::uint32_t occupied = random_places();
    Row sides = lanes;
    decode_columns(&occupied, 1, GetParam(), &sides);
    for (const Node& node : nodes_of(GetParam())) {
      if (node.positions.size() == 2) {
        EXPECT_EQ(sides[node.slot], lanes[node.slot]);  // a binary node has nothing to decode
        continue;
      }
      std::vector<double> kept = estimates(node, lanes);
      double total = 0;
      for (std::size_t c = 0; c < kept.size(); ++c) {
        if ((occupied >> node.positions[c] & 1) == 0 || kept[c] < 0) kept[c] = 0;
        total += kept[c];
      }
      if (total < 1e-4) continue;
      for (std::size_t c = 0; c < kept.size(); ++c) {
        EXPECT_NEAR(product_of_sides(sides, node.slot, node.positions[c]), kept[c] / total, 1e-5 / total)
            << node.slot << " column " << c;
      }
    }
  }
}

TEST_P(Ways, ExactRegressorsGiveTheDistributionBack) {
  for (int trial = 0; trial < 100; ++trial) {
    Row lanes{};
    std::vector<std::vector<double>> truth;
    for (const Node& node : nodes_of(GetParam())) {
      std::vector<double> p(node.positions.size());
      double total = 0;
      for (double& value : p) total += value = std::uniform_real_distribution<double>(0, 1)(dice_);
      for (double& value : p) value /= total;
      const WideNode wide{node.slot, static_cast<std::uint32_t>(std::bit_width(p.size())) - 1};
      for (const std::uint32_t lane : node.lanes) {
        double sum = 0;
        for (std::uint32_t c = 0; c < p.size(); ++c) sum += row_contains(wide, lane, c) ? p[c] : 0;
        lanes[lane] = static_cast<float>(sum);
      }
      truth.push_back(p);
    }
    const std::uint32_t everywhere = ~0U;
    decode_columns(&everywhere, 1, GetParam(), &lanes);
    const std::vector<Node> nodes = nodes_of(GetParam());
    for (std::size_t n = 0; n < nodes.size(); ++n) {
      for (std::size_t c = 0; c < truth[n].size(); ++c) {
        EXPECT_NEAR(product_of_sides(lanes, nodes[n].slot, nodes[n].positions[c]), truth[n][c], 1e-5);
      }
    }
  }
}

TEST_P(Ways, SidesAreHalvesWhereNothingIsLeft) {
  Row lanes = random_lanes();
  const std::uint32_t nowhere = 0;
  decode_columns(&nowhere, 1, GetParam(), &lanes);
  for (const Node& node : nodes_of(GetParam())) {
    if (node.positions.size() == 2) continue;
    for (const std::uint32_t lane : node.lanes) EXPECT_EQ(lanes[lane], 0.5F);
  }
}

TEST_P(Ways, DivergedRegressorsStayVisible) {
  Row lanes = random_lanes();
  lanes[3] = std::numeric_limits<float>::quiet_NaN();
  const std::uint32_t everywhere = ~0U;
  decode_columns(&everywhere, 1, GetParam(), &lanes);
  const std::uint32_t position = GetParam() == 8 ? 8 : 16;
  EXPECT_TRUE(std::isnan(product_of_sides(lanes, 1, position)));
}

TEST_P(Ways, BlocksAreDecodedOneByOne) {
  const std::vector<Row> lanes{random_lanes(), random_lanes(), random_lanes()};
  const std::vector<std::uint32_t> occupied{~0U, random_places(), random_places()};
  std::vector<Row> together = lanes;
  decode_columns(occupied.data(), 3, GetParam(), together.data());
  for (std::size_t b = 0; b < lanes.size(); ++b) {
    Row alone = lanes[b];
    decode_columns(&occupied[b], 1, GetParam(), &alone);
    EXPECT_EQ(alone, together[b]);
  }
}

TEST(BlockCode, TwoWaysAreTheBinaryTree) {
  for (std::uint32_t slot = 1; slot < kLanes; ++slot) {
    EXPECT_EQ(node_of_slot(2, slot).slot, slot);
    EXPECT_FALSE(row_contains({slot, 1}, slot, 0));
    EXPECT_TRUE(row_contains({slot, 1}, slot, 1));
  }
  const LaneTargets& targets = targets_at(2, 0b1011, true);
  const std::vector<std::pair<std::size_t, bool>> expected{{1, false}, {2, true}, {5, true}, {11, false}};
  for (const auto& [lane, right] : expected) {
    EXPECT_TRUE(is_trained(targets, lane));
    EXPECT_EQ(is_right(targets, lane), right);
  }
  std::size_t trained = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) trained += is_trained(targets, lane) ? 1U : 0U;
  EXPECT_EQ(trained, 4U);
}

TEST_P(Ways, ASplitNeverMovesTheColumnOfTheOldLabel) {
  for (std::uint8_t position = 1; position < 16; ++position) {
    const LaneTargets& before = targets_at(GetParam(), position, false);
    const LaneTargets& after = targets_at(GetParam(), static_cast<std::uint8_t>(2 * position), false);
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
      if (!is_trained(before, lane)) continue;
      EXPECT_TRUE(is_trained(after, lane));
      EXPECT_EQ(is_right(after, lane), is_right(before, lane));
    }
  }
}

TEST_P(Ways, APathTrainsWholeNodesTowardsItsColumns) {
  for (const Node& node : nodes_of(GetParam())) {
    const Code code = hadamard_code(node.positions.size());
    const WideNode wide{node.slot, static_cast<std::uint32_t>(std::bit_width(node.positions.size())) - 1};
    for (std::uint32_t c = 0; c < node.positions.size(); ++c) {
      const LaneTargets& targets = targets_at(GetParam(), static_cast<std::uint8_t>(node.positions[c]), false);
      for (const std::uint32_t lane : node.lanes) {
        EXPECT_TRUE(is_trained(targets, lane));
        EXPECT_EQ(is_right(targets, lane), code[row_of_lane(code, wide, lane)][c] == 0);
      }
    }
  }
}

}  // namespace
}  // namespace cpt
