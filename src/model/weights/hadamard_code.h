// Nodes of 2, 4, 8 or 16 children (the node's arity k), and the code by which the regressors of a node tell its
// children apart: conditional PECOC of the paper, in the layout of the binary tree.
//
// A node of arity k takes log2(k) levels of the block's slots, and the k - 1 lanes of these slots hold its regressors.
// One node of arity 16 fills a block, as do five of arity 4; a node of arity 8 leaves slots 8 .. 15 to eight binary
// nodes. A child's *column*, 0 .. k - 1, is the sides of its path inside the node, the first side as the highest bit,
// padded with zeros; a leaf that splits goes left, so its column never changes. Row m = 1 .. k - 1 of the code is the
// set of columns that share an odd number of bits with m read backwards, and its regressor estimates the probability of
// that set. This is the Hadamard code of the paper with every row but the constant one inverted, so that a node of
// arity 2 is the binary node: its one regressor estimates P(right).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "model/weights/kernels.h"

namespace cpt {

// A node of any arity: `levels` levels of slots from `slot` down.
struct WideNode {
  std::uint32_t slot = 1;
  std::uint32_t levels = 1;
};

// The node that a slot 1 .. 15 belongs to. `arity` is 2, 4, 8 or 16 here and below.
constexpr WideNode node_of_slot(int arity, std::uint32_t slot) {
  const auto depth = static_cast<std::uint32_t>(std::bit_width(slot)) - 1;
  if (arity == 16) return {1, 4};
  if (arity == 8 && depth < 3) return {1, 3};
  if (arity == 4) return {slot >> (depth % 2), 2};
  return {slot, 1};
}

// Whether the row of a lane 1 .. 15 contains a column of the node that the lane belongs to.
constexpr bool row_contains(WideNode node, std::uint32_t lane, std::uint32_t column) {
  const auto depth = std::bit_width(lane) - std::bit_width(node.slot);
  const std::uint32_t row = lane - (node.slot << depth) + (1U << depth);
  std::uint32_t shared = 0;
  for (std::uint32_t level = 0; level < node.levels; ++level) {
    shared += (row >> level) & (column >> (node.levels - 1 - level)) & 1;
  }
  return shared % 2 == 1;
}

// The regressors that a path trains in a block that it leaves, or ends in, at a position 1 .. 31: those of every node
// above the position, towards 1 if their row contains the column taken and 0 otherwise. If the path ends at a leaf, and
// a node at that position would have all its lanes in the block, also the leaf's regressors in these lanes, towards 0.
const LaneTargets& targets_at(int arity, std::uint8_t position, bool leaf);
// The targets by position; those of paths that end at a leaf are 32 further on.
const LaneTargets* targets_by_position(int arity);

// Decodes the regressors of blocks in place, with the vector kernel of decode_kernel.cpp: from lane s = the estimate of
// row s, to lane s = P(right) of slot s. The product of the sides on the path to a child is then the child's estimate.
// occupied[b] is BlockNodes::occupied of block b. `arity` is 4, 8 or 16; binary nodes have nothing to decode.
//
// The paper's estimate of a column c of k, with r_m the estimate of row m, is
//   2 * mean over the k rows of (C(m, c) r_m + (1 - C(m, c)) (1 - r_m)) - 1
// where the constant row counts as right. Estimates below 0 become 0, columns without a child become 0, and the rest is
// divided by its sum (if that is 0, all sides are 1/2). Clipping and leaving out empty columns never move an estimate
// away from the truth, but dividing costs the bound of the PECOC lemma: normalized_pecoc_bound() of tree/bounds.h holds
// instead. NaN where a row is NaN.
void decode_columns(const std::uint32_t* occupied, std::size_t blocks, int arity, Row* lanes);

}  // namespace cpt
