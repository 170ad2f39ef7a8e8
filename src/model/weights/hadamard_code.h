// Nodes of 2, 4, 8 or 16 ways in a block, and the code by which the regressors of a node tell its children apart:
// conditional PECOC of the paper, in the layout of the binary tree.
//
// A node of k ways takes log2(k) levels of the block's slots, and the k - 1 lanes of these slots hold its regressors:
// one node of 16 ways fills a block, five of 4 ways do; a node of 8 ways leaves the slots 8 .. 15 to eight binary ones.
// A child's *column*, 0 .. k - 1, is the sides of its path inside the node, the first one as the highest bit, padded
// with zeros: a leaf that splits goes left, so its column never changes. Row m = 1 .. k - 1 of the code is a set of
// columns, those that share an odd number of bits with m read backwards; its regressor estimates the probability of
// the set. That is the Hadamard code of the paper with every row but the constant one inverted, so that a node of two
// ways is the binary node: its one regressor estimates P(right).
#pragma once

#include <bit>
#include <cstdint>

#include "model/weights/kernels.h"

namespace cpt {

// A node of several ways: `levels` of slots from `slot` down.
struct WideNode {
  std::uint32_t slot = 1;
  std::uint32_t levels = 1;
};

// The node that a slot 1 .. 15 belongs to. ways is 2, 4, 8 or 16.
constexpr WideNode node_of_slot(int ways, std::uint32_t slot) {
  const auto depth = static_cast<std::uint32_t>(std::bit_width(slot)) - 1;
  if (ways == 16) return {1, 4};
  if (ways == 8 && depth < 3) return {1, 3};
  if (ways == 4) return {slot >> (depth % 2), 2};
  return {slot, 1};
}

// Whether the row of a lane 1 .. 15 holds a column of the node that the lane belongs to.
constexpr bool row_holds(WideNode node, std::uint32_t lane, std::uint32_t column) {
  const auto depth = std::bit_width(lane) - std::bit_width(node.slot);
  const std::uint32_t row = lane - (node.slot << depth) + (1U << depth);
  std::uint32_t shared = 0;
  for (std::uint32_t level = 0; level < node.levels; ++level) {
    shared += (row >> level) & (column >> (node.levels - 1 - level)) & 1;
  }
  return shared % 2 == 1;
}

// What a path that leaves a block at a place 1 .. 31 trains there: the regressors of every node above the place,
// towards whether their row holds the column taken; and if it ends at a place whose node would have all its lanes in
// the block, the leaf's regressors, in these lanes, towards 0.
const LaneTargets& targets_at(int ways, std::uint8_t place, bool leaf);
// All of them: by place, and 32 further on those of leaves.
const LaneTargets* targets_by_place(int ways);

}  // namespace cpt
