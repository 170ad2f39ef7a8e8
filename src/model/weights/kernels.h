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
#include "model/rarity/scaled_example.h"
#include "model/weights/calibrators.h"
#include "model/weights/weight_table.h"

namespace cpt {

// F, rounded up to a multiple of kLanes.
constexpr std::size_t padded(std::size_t features) { return (features + kLanes - 1) / kLanes * kLanes; }

// Rows that a later example needs. A core keeps only a few requests to memory under way and stalls on more, so kernels
// prefetch one of them whenever they take a row of their own.
struct RowsAhead {
  float* const* rows = nullptr;
  std::size_t count = 0;
  std::size_t prefetched = 0;  // of `rows`, from the first on

  std::size_t left() const { return count - prefetched; }
  void prefetch(std::size_t some) {
    for (; some > 0; --some, ++prefetched) __builtin_prefetch(rows[prefetched], 1);
  }
};

// The rows that an example uses, in the shapes above.
struct PathRows {
  float* const* rows;
  const float* values;  // [F]: the values of the features
  const float* scaled;  // [F]: values * d, d from the rarity of the features; only calibrators look at them
  std::size_t features;
  std::size_t blocks;
  float* before = nullptr;     // [B][padded(F)]: lane 0 of the rows, 0 after them; only training needs it
  RowsAhead* ahead = nullptr;  // what is not prefetched at the end is left to the caller
};

// The estimates of the regressors of a block for an example, by lane; lane 0 is meaningless.
struct alignas(64) Estimate {
  Row right;   // P(right)
  Row margin;  // z = sum over f of values[f] * rows[b * F + f]
  Row scaled;  // y = the same of scaled[f]; only where the block has a calibrator
};

// out[f] = the address of row WeightTable::index(features[f], key, region) of the table that begins at `table`.
void find_rows(std::span<const FeatureHash> features, std::uint64_t key, const Region& region, float* table,
               float** out);

// scaled[f] = values[f] * d_f, as in ScaledExample, for rarities.size() features. d_f is 1 for all of them if the sum
// of squared values is 0. `scaled` has room for a multiple of kLanes floats; those after the last feature are
// arbitrary. Returns whether a value is not within [-kMostSafeValue, kMostSafeValue].
bool scale_values(std::span<const float> values, std::span<const Rarity> rarities, float* scaled);

// Computes the estimate of every block, and path.before unless that is nullptr. P(right) = 1 / (1 + exp(-z)) within
// 3e-7 relative for logistic, z kept in [0, 1] for squared. NaN where z is not finite; below -87 as at -87. With
// calibrators, one for each block,
//   m = a z + b + c y,   P(right) = 1 / (1 + exp(-1.05 m))
// where z and y are kept in [-30, 30]. Learning uses m, not 1.05 m: the factor was found to lower the squared error and
// to leave the log loss as it is.
void predict_blocks(const PathRows& path, Loss loss, const Calibrator* const* calibrators, Estimate* estimates);

// The lanes of a block that are trained, and their targets. Made by targets_of().
struct alignas(64) LaneTargets {
  static constexpr std::uint32_t kLanesTogether = 4;  // as many as a path of binary nodes trains in a block
  static constexpr std::uint8_t kNotTrained = 0xff;

  std::array<std::uint8_t, kLanes> lanes;  // the trained lanes, ascending, padded with zeros up to `count`
  std::array<std::uint8_t, kLanes> nodes;  // those of nodes, whose calibrators learn too; 0 for the regressor of a leaf
  std::array<std::uint8_t, kLanes> index_of_lane;  // where a lane is in `lanes`, or kNotTrained
  std::uint32_t count;                             // a multiple of kLanesTogether
  alignas(64) Row towards;  // parallel to `lanes`: 1 for the right, -1 for the left, 0 for padding
};

// Every lane of `trained`, `right` and `nodes` is 0 or 1; only trained lanes can be nodes. Lane 0, which belongs to no
// regressor, is never trained, whatever `trained` says.
constexpr LaneTargets targets_of(const Row& trained, const Row& right, const Row& nodes = {}) {
  LaneTargets targets{};
  targets.index_of_lane.fill(LaneTargets::kNotTrained);
  for (std::uint8_t lane = 1; lane < kLanes; ++lane) {
    if (trained[lane] == 0) continue;
    targets.lanes[targets.count] = lane;
    targets.nodes[targets.count] = nodes[lane] != 0 ? lane : std::uint8_t{0};
    targets.index_of_lane[lane] = static_cast<std::uint8_t>(targets.count);
    targets.towards[targets.count] = right[lane] != 0 ? 1.0F : -1.0F;
    ++targets.count;
  }
  while (targets.count % LaneTargets::kLanesTogether != 0) ++targets.count;
  return targets;
}

// The same as predict_blocks() with calibrators and the logistic loss, but P(right) of trained lanes only.
void predict_path(const PathRows& path, const LaneTargets* const* targets, const Calibrator* const* calibrators,
                  Estimate* estimates);

// One step of the regressors on a path, and of their calibrators. Call predict_blocks() or predict_path() for the same
// example first: it fills the estimates and PathRows::before.
struct UpdateStep {
  Estimate* estimates;                // by block
  const LaneTargets* const* targets;  // by block
  Calibrator* const* calibrators;     // by block, all different; nullptr: there are none
  float* scratch;                     // scratch_floats(features) floats, aligned to 64 bytes, for `safe`
  double squared_length;              // sum of the squared feature values
  float importance;
  Loss loss;
  Update update;
  float rate;
};

// The error of block b in a trained lane s is e_s = right - p, p = P(right) of the margin z without the calibrator; in
// other lanes it is 0.
// Moves the rows of every block in which sum_s e_s^2 is not 0 as a float, and no others, with h = importance:
//   adaptive: e_s *= h / squared_length;  w_s += rate * x * e_s / sqrt(G),   G = lane 0 after  G += x^2 * sum_s e_s^2
//   sgd:      the same e_s;               w_s += rate * x * e_s,             with the same G kept
//   safe:     w_s += step * (z'_s - z_s) / u,  step = x / sqrt(G + x^2 / 5),   G = lane 0 after
//             G += H x^2 * sum_s e_s^2,  H = h up to 1, 1 + ln(h) above;  u = sum over f of x * step;
//             z' is where the gradient flow of the loss takes z in the time q = rate * h * u:
//             logistic, with v = z where the target is right, else -z, kept in [-60, 20]: v' + exp(v') = v + exp(v) +
//             q; squared: z' - target = (z - target) exp(-q), and z' = z where p is the target. So no step, of whatever
//             importance, overshoots. v' - v is within 1 percent.
// Lanes that are not trained have an error of 0 even if z is NaN, so lanes that no label uses never spread NaN. G grows
// by at least 1e-37 whenever a row moves, so G > 0 marks the rows that ever moved. If a row occurs twice, each of its
// steps leaves the other's growth out of G. So it makes no difference how a path is cut into calls.
//
// Then the calibrators of nodes learn the side t, with f = (z, 1, y), p = 1 / (1 + exp(-m)), h = importance, and S_0 =
// that of kFirstCalibrator:
//   k = S f,  v = max(f.k, 0),  g = 1 / (1 + h p (1 - p) v);   (a, b, c) += h k (t - p) g
//   S <- (1 - phi) (S - h p (1 - p) g k k') + phi S_0,  phi = 3e-5 min(h, 1 / h)
// An importance above 1 is learned in steps of h = 1, 1, 2, 4, ..., each with the new a, b, c and S, and each as large
// as all before it together, because a step is accurate only while p hardly changes. Where all importances are h, S is
// 1 / h of what it is where they are 1, and so are phi S_0 and the S that a block begins with. Why S stays positive
// definite in floats: the exact S - h p (1 - p) g k k' is, and its rounding errors, of 1e-7, are less than the phi S_0
// that is added: 3e-6 for h = 1, 1e-7 for h = Calibrator::kMostImportance, which greater ones count as; z and y in
// [-30, 30] bound what one step can take away.
void train_blocks(const PathRows& path, const UpdateStep& update_step);

// The same as predict_path() and train_blocks() after it, faster: while one waits for a result, the other computes.
// Fills the estimates, but P(right) of nodes only. Requires calibrators, the logistic loss and the safe step.
void learn_path(const PathRows& path, const UpdateStep& update_step);

// How many blocks train_blocks() takes together: several if there are few features, because they do not wait for one
// another; one if there are many, because the scratch memory of several would not fit the first-level cache.
inline constexpr std::size_t kBlocksTogether = 8;
constexpr std::size_t blocks_together(std::size_t features) { return features <= 8 * kLanes ? kBlocksTogether : 1; }

// Floats of UpdateStep::scratch.
constexpr std::size_t scratch_floats(std::size_t features) {
  return padded(features) * (2 + 2 * blocks_together(features));
}

// The name of the instruction set that the kernels use on this processor ("AVX3", "SSE4", ...).
const char* kernel_target();

}  // namespace cpt
