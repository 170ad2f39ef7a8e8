// The regressors of the model: linear functions of an example's features, whose weights lie in rows of the weight
// table. Predicts and trains all regressors that one example meets.
//
// Regressors come in blocks of up to 15, one in each of the lanes 1 .. 15; a block has one row for each feature. Those
// of the nodes of a tree are in the blocks of the tree. Methods that look at every label number theirs, and put
// regressor i into lane 1 + i % 15 of group i / 15.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"
#include "model/rarity/scaled_example.h"
#include "model/tree/blocks.h"
#include "model/weights/calibrators.h"
#include "model/weights/kernels.h"
#include "model/weights/weight_table.h"

namespace cpt {

// Where the calibrator of a block on a path is or will be added.
struct Calibration {
  std::uint64_t key = 0;
  Partition partition = 0;
  Calibrator* calibrator = nullptr;  // nullptr: none yet, when it was looked for
};

// One example and the blocks of regressors that it meets: those on the path to its label, or on a part of that path, or
// all groups. Reused from example to example, it allocates nothing. B blocks, F features.
struct PathState {
  ScaledExample example;
  ScaledValues room;  // of `example`, where the model scales it
  LabelId label = kNoLabel;
  std::uint64_t key = 0;                      // example_key(), for the method `table`
  std::vector<PathStep> path;                 // [B], of tree paths only; of several trees one after the other
  std::vector<std::size_t> tree_ends;         // by tree: where its part of the path ends
  bool at_leaf = false;                       // whether the path ends at the leaf; else it goes on in another partition
  std::vector<float*> rows;                   // [B][F]
  RowsAhead ahead;                            // rows of a later path state, to prefetch
  std::vector<const LaneTargets*> targets;    // [B]
  std::vector<Calibration> calibrations;      // [B]; only where nodes are calibrated
  std::vector<const Calibrator*> predicting;  // [B]: the calibrators that predict
  std::vector<Calibrator*> learning;          // [B]: the calibrators that learn
  struct alignas(64) AlignedRow {
    Row lanes;
  };
  std::vector<AlignedRow> before;       // PathRows::before
  std::vector<AlignedRow> steps;        // UpdateStep::scratch
  std::vector<Estimate> estimates;      // [B]: of the regressor in every lane, unclipped
  std::vector<Row> sides;               // [B]: P(right) of every slot; only for nodes of arity above 2
  std::vector<std::uint32_t> occupied;  // [B]: BlockNodes::occupied; only for nodes of arity above 2

  // The rows of the first `blocks` blocks.
  PathRows rows_of(std::size_t blocks) {
    const std::size_t features = example.values.size();
    before.resize(std::max(before.size(), blocks * padded(features) / kLanes));
    return {.rows = rows.data(),
            .values = example.values.data(),
            .scaled = example.scaled.data(),
            .features = features,
            .blocks = blocks,
            .before = reinterpret_cast<float*>(before.data()),
            .ahead = &ahead};
  }
  RowsAhead all_rows() const { return {rows.data(), rows.size()}; }
  void prefetch_rows() const {
    for (const float* row : rows) __builtin_prefetch(row, 1);
  }
  void clear_path() {
    path.clear();
    tree_ends.clear();
    targets.clear();
    calibrations.clear();
  }
};

// The base of all regressors: finds their rows, and trains them by one example. Borrows the weights. Const members only
// read and may run in several threads, each with its own PathState.
class Regressors {
 public:
  // Trains the regressors of all blocks of the example towards path_state.targets, and their calibrators. After
  // predict().
  void train(PathState& path_state);

 protected:
  Regressors(WeightTable& weights, const ModelOptions& options);

  // One step of all blocks of the path. Adds the calibrators that blocks do not have yet.
  UpdateStep step_of(PathState& path_state);

  // The row of every feature of x in the block with this key.
  void find_rows(const ExampleView& x, std::uint64_t key, const Region& region, float** rows) const;
  float weight(FeatureHash feature, std::uint64_t key, const Region& region, std::size_t lane) const {
    return weights_->row(WeightTable::index(feature, key, region))[lane];
  }

  WeightTable* weights_;
  Calibrators* calibrators_ = nullptr;  // of NodeRegressors that are calibrated
  Loss loss_;
  Update update_;

 private:
  float rate_;
};

// The regressors of the nodes of a tree, along one path at a time.
class NodeRegressors : public Regressors {
 public:
  NodeRegressors(WeightTable& weights, const ModelOptions& options);

  // Number of children of a node: 2, 4, 8 or 16.
  int arity() const { return arity_; }

  // Finds the rows of path_state.example for the steps of path_state.path that were not located yet. `blocks` holds the
  // blocks of these steps. Prefetching the rows some time before predict() saves waiting for memory.
  void locate(const Blocks& blocks, bool at_leaf, PathState& path_state) const;
  // The same in parts and without looking at blocks, because positions determine the keys of blocks: begin(), then
  // extend() at least once, for each part of the path from a block `top` on, then finish_path(). Until extend() finds
  // new rows, path_state.rows are those of the example before.
  static void begin(LabelId label, PathState& path_state) {
    path_state.label = label;
    path_state.clear_path();
  }
  void extend(const BlockHeader& top, std::span<const std::uint8_t> positions, PathState& path_state) const;
  void finish_path(bool at_leaf, PathState& path_state) const;

  // Computes the estimates of all regressors on the path, after locate(). If the arity is above 2, decode() must
  // follow, which computes P(right) of all slots: once for each part of the path, in order, with the Blocks that hold
  // the part, which ends before step `end`.
  void predict(PathState& path_state) const;
  void decode(const Blocks& blocks, std::size_t end, PathState& path_state) const;
  // The same as predict() and train(), to the last bit, but faster. If the arity is above 2, decode() follows.
  void learn(PathState& path_state);
  // The product of the node probabilities, each clipped, on the way from the top of a block to a position of it. NaN if
  // the weights are not finite.
  double exit_probability(const Row& probabilities, std::uint8_t position) const {
    const auto above = [&](std::uint32_t levels) {
      double product = 1;
      std::uint32_t at = position;
      for (std::uint32_t level = 0; level < levels; ++level, at /= 2) {
        const double p = clipped(probabilities[at / 2]);
        const std::array<double, 2> of_side{1 - p, p};  // indexed, because a branch would be unpredictable
        product *= of_side[at % 2];
      }
      return product;
    };
    // All steps of a path but the last have four levels.
    return position > kLastSlot ? above(4) : above(position_depth(position));
  }
  // exit_probability() of a step of the path. After predict().
  double step_probability(const PathState& path_state, std::size_t step) const {
    return exit_probability(arity_ == 2 ? path_state.estimates[step].right : path_state.sides[step],
                            path_state.path[step].position);
  }
  // The product of the steps [begin, end) of the path.
  double steps_probability(const PathState& path_state, std::size_t begin, std::size_t end) const {
    double product = 1;
    for (std::size_t step = begin; step < end; ++step) product *= step_probability(path_state, step);
    return product;
  }

  // P(right), unclipped, of all slots of a block; lane 0 is meaningless. `rows` is scratch space. `next`, if not null,
  // is a block that may be asked for next: its rows are prefetched.
  Row block_probabilities(const ScaledExample& x, const Blocks& blocks, BlockId block, std::vector<float*>& rows,
                          const BlockHeader* next = nullptr) const;
  // The estimates of all slots of a block, unclipped, before a code is decoded. See block_probabilities().
  Estimate block_estimate(const ScaledExample& x, const BlockHeader& block, std::vector<float*>& rows,
                          const BlockHeader* next = nullptr) const;
  // The calibrator by which a block predicts; nullptr if nodes are not calibrated.
  const Calibrator* calibrator(const BlockHeader& block) const;
  // The weight of a feature in a lane. The margin of a regressor is the sum of weight * value over the features of x.
  float weight(FeatureHash feature, const BlockHeader& block, std::uint8_t slot) const {
    return Regressors::weight(feature, block.key, weights_->region(block.partition), slot);
  }
  // A node probability as predictions use it: kept in [clip, 1 - clip].
  double clipped(float p) const { return std::clamp(static_cast<double>(p), clip_, 1 - clip_); }

 private:
  void make_room_for_estimates(PathState& path_state) const;
  void prefetch(const ExampleView& x, const BlockHeader& block) const;
  // Finds and prefetches the calibrator of a block that the path leaves at this position.
  Calibrator* find_calibrator(std::uint64_t key, std::uint8_t position) const;

  double clip_;
  int arity_;
  const LaneTargets* targets_;  // targets_by_position()
};

inline constexpr std::size_t kRegressorsPerGroup = kLanes - 1;

constexpr std::size_t group_of(std::size_t regressor) { return regressor / kRegressorsPerGroup; }
constexpr std::size_t lane_of(std::size_t regressor) { return 1 + regressor % kRegressorsPerGroup; }
// Number of groups that hold this many regressors.
constexpr std::size_t groups_for(std::size_t regressors) {
  return (regressors + kRegressorsPerGroup - 1) / kRegressorsPerGroup;
}

// Numbered regressors that every example predicts and trains, in groups of 15. The rows of a group are spread over the
// whole table; its partitions only say which rank stores a row.
class LabelRegressors : public Regressors {
 public:
  LabelRegressors(WeightTable& weights, const ModelOptions& options);

  // Finds the rows of path_state.example and computes path_state.estimates for regressors 0 .. count - 1, by group.
  // Unused lanes of the last group hold the estimates of regressors without weights.
  void predict(std::size_t count, PathState& path_state) const;
  // The estimate of regressor i. After predict().
  static double estimate(const PathState& path_state, std::size_t i) {
    return static_cast<double>(path_state.estimates[group_of(i)].right[lane_of(i)]);
  }
  // The weight of a feature in regressor i; see NodeRegressors::weight().
  float weight(FeatureHash feature, std::size_t i) const;

 private:
  void find_group(const ExampleView& x, std::size_t group, float** rows) const;

  Region whole_;
};

}  // namespace cpt
