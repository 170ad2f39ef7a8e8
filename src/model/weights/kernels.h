// The vector kernels of the learner. Each works on one example: all its features in all blocks of a path.
//
// Shapes: an example has F features; a path has B blocks; rows[b * F + f] is the row of feature f in block b, aligned
// to 64 bytes. Results are the same bytes on every instruction set: lanes are summed over features in order, nothing is
// fused, and only operations that IEEE 754 rounds exactly are used. The same row may occur twice in one call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cpt/options.h"
#include "model/weights/weight_table.h"

namespace cpt {

// What both kernels are about, in these shapes.
struct PathRows {
  float* const* rows;
  const float* values;  // of the features
  std::size_t features;
  std::size_t blocks;
};

// Node probabilities P(right), lane by lane: with the margin z = sum over f of values[f] * rows[b * F + f][s],
// probabilities[b] lane s = 1 / (1 + exp(-z)) within 3e-7 relative for logistic, z kept in [0, 1] for squared. NaN
// where z is not finite; below -87 as at -87. Lane 0 is meaningless.
void predict_blocks(const PathRows& path, Loss loss, Row* probabilities);

// Which lanes of a block are trained, and towards what: both 0 or 1 in every lane. Made by targets_of().
struct LaneTargets {
  Row trained;
  Row right;
  std::array<std::uint8_t, kLanes> lanes;             // the first `count`: those trained, ascending, and then zeros
  std::uint32_t count;                                // a multiple of kLanesTogether
  static constexpr std::uint32_t kLanesTogether = 4;  // a path of binary nodes trains no more in a block
};

// Lane 0, which no regressor has, is not trained whatever `trained` says.
constexpr LaneTargets targets_of(const Row& trained, const Row& right) {
  LaneTargets targets{trained, right, {}, 0};
  targets.trained[0] = 0;
  for (std::uint8_t lane = 1; lane < kLanes; ++lane) {
    if (trained[lane] != 0) targets.lanes[targets.count++] = lane;
  }
  while (targets.count % LaneTargets::kLanesTogether != 0) ++targets.count;
  return targets;
}

// How the regressors of a path are to move: the error of block b in lane s is e_s = trained * (right - p) * scale.
struct UpdateStep {
  const Row* probabilities;           // p, by block: what predict_blocks() made of them
  const LaneTargets* const* targets;  // by block
  float scale;
  Update update;
  float rate;
};

// Moves the rows of every block in which sum_s e_s^2 is not 0 as a float, and no others:
//   adaptive: w_s += rate * x * e_s / sqrt(G),   G = lane 0 after  G += x^2 * sum_s e_s^2
//   sgd:      w_s += rate * x * e_s,             with the same G kept
// Lanes that are not trained have an error of 0 even where p is NaN, so that what no label uses is not learned of.
// G grows by at least 1e-37 wherever a row moves, so that G > 0 tells the rows ever moved. Features are taken sixteen
// at a time: a row that occurs twice among them takes each step with the other's growth left out of G.
void train_blocks(const PathRows& path, const UpdateStep& update_step);

// The name of the instruction set that the kernels use on this processor ("AVX3", "SSE4", ...).
const char* kernel_target();

}  // namespace cpt
