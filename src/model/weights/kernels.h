// The vector kernels of the learner. Each works on one example: all its features, in all blocks of a path.
//
// Shapes: an example has F features and a path has B blocks. rows[b * F + f] is the row of feature f in block b, 16
// floats aligned to 64 bytes; the same row may occur twice in one call. Results are the same bytes on every instruction
// set: lanes are summed over features in order, no operations are fused, and only operations that IEEE 754 rounds
// exactly are used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cpt/example.h"
#include "cpt/options.h"
#include "model/weights/weight_table.h"

namespace cpt {

// The rows that an example uses, in the shapes above.
struct PathRows {
  float* const* rows;
  const float* values;  // [F]: the values of the features
  std::size_t features;
  std::size_t blocks;
};

// out[f] = the address of row WeightTable::index(features[f], key, region) of the table that begins at `table`.
void find_rows(std::span<const FeatureHash> features, std::uint64_t key, const Region& region, float* table,
               float** out);

// Computes node probabilities P(right), lane by lane: with the margin z = sum over f of values[f] * rows[b * F + f][s],
// probabilities[b] lane s = 1 / (1 + exp(-z)) within 3e-7 relative for logistic, z kept in [0, 1] for squared. NaN
// where z is not finite; below -87 as at -87. Lane 0 is meaningless.
void predict_blocks(const PathRows& path, Loss loss, Row* probabilities);

// Which lanes of a block are trained, and towards what. Every lane of both is 0 or 1. Made by targets_of().
struct LaneTargets {
  Row trained;
  Row right;
  std::array<std::uint8_t, kLanes> lanes;             // the trained lanes, ascending, padded with zeros up to `count`
  std::uint32_t count;                                // a multiple of kLanesTogether
  static constexpr std::uint32_t kLanesTogether = 4;  // as many as a path of binary nodes trains in a block
};

// Lane 0, which belongs to no regressor, is never trained, whatever `trained` says.
constexpr LaneTargets targets_of(const Row& trained, const Row& right) {
  LaneTargets targets{trained, right, {}, 0};
  targets.trained[0] = 0;
  for (std::uint8_t lane = 1; lane < kLanes; ++lane) {
    if (trained[lane] != 0) targets.lanes[targets.count++] = lane;
  }
  while (targets.count % LaneTargets::kLanesTogether != 0) ++targets.count;
  return targets;
}

// One gradient step of the regressors on a path. The error of block b in lane s is e_s = trained * (right - p) * scale.
struct UpdateStep {
  const Row* probabilities;           // p, by block, from predict_blocks()
  const LaneTargets* const* targets;  // by block
  float scale;                        // importance / sum of the squared feature values
  Update update;
  float rate;
};

// Moves the rows of every block in which sum_s e_s^2 is not 0 as a float, and no others:
//   adaptive: w_s += rate * x * e_s / sqrt(G),   G = lane 0 after  G += x^2 * sum_s e_s^2
//   sgd:      w_s += rate * x * e_s,             with the same G kept
// Lanes that are not trained have an error of 0 even if p is NaN, so lanes that no label uses never spread NaN. G grows
// by at least 1e-37 whenever a row moves, so G > 0 marks the rows that ever moved. Features are taken sixteen at a
// time: if a row occurs twice among them, each of its steps leaves the other's growth out of G.
void train_blocks(const PathRows& path, const UpdateStep& update_step);

// The name of the instruction set that the kernels use on this processor ("AVX3", "SSE4", ...).
const char* kernel_target();

}  // namespace cpt
