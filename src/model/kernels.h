// The vector kernels of the learner. Each works on one example: all its features in all blocks of a path.
//
// Shapes: an example has F features; a path has B blocks; lines[b * F + f] is the line of feature f in block b, aligned
// to 64 bytes. Results are the same bytes on every instruction set: lanes are summed over features in order, nothing is
// fused, and only operations that IEEE 754 rounds exactly are used. The same line may occur twice in one call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpt/options.h"
#include "model/weight_table.h"

namespace cpt {

// margins[b] lane s = sum over f of values[f] * lines[b * F + f][s]; lane 0 is meaningless. accumulators[b * F + f] =
// lane 0 of that line, for update_lines(); may be nullptr where none follows.
void compute_margins(const float* const* lines, const float* values, std::size_t features, std::size_t blocks,
                     Line* margins, float* accumulators = nullptr);

// margins to node probabilities P(right), lane by lane: 1 / (1 + exp(-z)) within 3e-7 relative for logistic,
// z kept in [0, 1] for squared. NaN where the margin is not finite; below -87 as at -87. In place is allowed.
void compute_probabilities(const Line* margins, std::size_t blocks, Loss loss, Line* probabilities);

// Which lanes of a block are trained, and towards what: both 0 or 1 in every lane.
struct Targets {
  Line trained;
  Line right;
};

// errors[b] lane s = trained * (right - probability) * scale. Lane 0 = the sum of the squares of the others.
void compute_errors(const Line* probabilities, const Targets* const* targets, std::size_t blocks, float scale,
                    Line* errors);

// Moves every line by its errors e (lane 0: their sum of squares):
//   adaptive: w_s += rate * x * e_s / sqrt(G),   G = lane 0 after  G += x^2 * sum_s e_s^2
//   sgd:      w_s += rate * x * e_s,             with the same G kept
// G grows by at least 1e-37 wherever a line moves, so that G > 0 tells the lines ever moved. Features are taken sixteen
// at a time: a line that occurs twice among them takes each step with the other's growth left out of G.
// `accumulators` are those of compute_margins(), and are overwritten. They change no result, they save time: numbers
// that were just gathered one by one would have to be waited for before they can be taken sixteen at once.
void update_lines(float* const* lines, const float* values, std::size_t features, std::size_t blocks,
                  const Line* errors, float* accumulators, Update update, float rate);

// The name of the instruction set that the kernels use on this processor ("AVX3", "SSE4", ...).
const char* kernel_target();

}  // namespace cpt
