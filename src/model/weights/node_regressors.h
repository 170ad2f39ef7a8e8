// The node regressors: what a path predicts, and how it is trained. Knows the weights, and of the tree only the hops of
// one path at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"
#include "model/tree/blocks.h"
#include "model/weights/kernels.h"
#include "model/weights/weight_table.h"

namespace cpt {

// One example on its way to the leaf of one label, or on a part of that way. Reused from example to example, it
// allocates nothing.
struct PathState {
  ExampleView example;
  LabelId label = kNoLabel;
  std::uint64_t key = 0;  // of the example, where whole ones are counted: example_key()
  std::vector<PathStep> path;
  bool at_leaf = false;                     // where the path ends; else it only leaves the blocks that it is in
  std::vector<float*> rows;                 // [hop][feature]
  std::size_t rows_asked_for = 0;           // how many of them, from the first on, are prefetched
  std::vector<const LaneTargets*> targets;  // by hop
  std::vector<Row> probabilities;           // by hop: what the regressor of every lane estimates, unclipped
  std::vector<Row> sides;                   // by hop: P(right) of every slot, where nodes have more than two ways
  std::vector<std::uint32_t> occupied;      // by hop, likewise: BlockNodes::occupied

  // Of all rows, over all blocks of the path.
  PathRows rows_of(std::size_t blocks) const {
    return {rows.data(), example.values.data(), example.values.size(), blocks};
  }
  void forget_targets() {
    targets.clear();
    rows_asked_for = 0;
  }
  // Asks the memory for the first `count` rows, but for those that it was asked for already.
  void ask_for_rows(std::size_t count) {
    if (count <= rows_asked_for) return;
    float* const* const all = rows.data();
    for (std::size_t i = std::exchange(rows_asked_for, count); i < count; ++i) __builtin_prefetch(all[i], 1);
  }
};

// Borrows the weights. Const members only read and may run in several threads, each with its own PathState.
class Regressors {
 public:
  Regressors(WeightTable& weights, const ModelOptions& options);

  // Finds the rows of path_state.example on path_state.path, whose blocks are of `blocks`. `at_leaf` goes into the
  // path_state. Between this and predict() is the time to ask the memory for them.
  void locate(const Blocks& blocks, bool at_leaf, PathState& path_state) const;
  // The same in parts, by places alone, for that is all it takes to know the keys of blocks: begin(), then extend() for
  // each way from a block `top` on, at least one, then aim_at_end(). Rows are those of the path_state before until
  // extend() finds others, which takes less time than to forget them. Of x the path_state gets what learning needs: not
  // its label's name and its origin.
  static void begin(const ExampleView& x, LabelId label, PathState& path_state) {
    // One by one: a view that was put together right before is not copied whole without waiting for its parts.
    path_state.example.features = x.features;
    path_state.example.values = x.values;
    path_state.example.importance = x.importance;
    path_state.label = label;
    path_state.path.clear();
    path_state.forget_targets();
  }
  void extend(const BlockHeader& top, std::span<const std::uint8_t> places, PathState& path_state) const;
  void aim_at_end(bool at_leaf, PathState& path_state) const;
  int ways() const { return ways_; }
  // Computes the probabilities of all slots on the path. After locate(). Where nodes have more than two ways the hops
  // must name their blocks.
  void predict(const Blocks& blocks, PathState& path_state) const;
  // The same where they have two, whatever the hops name.
  void predict(PathState& path_state) const;
  // The product of the node probabilities of one hop of the path, each kept in [clip, 1 - clip]. After predict(). NaN
  // if the weights are not finite.
  double hop_probability(const PathState& path_state, std::size_t hop) const {
    const Row& probabilities = ways_ == 2 ? path_state.probabilities[hop] : path_state.sides[hop];
    const std::uint32_t place = path_state.path[hop].place;
    const auto above = [&](std::uint32_t levels) {
      double product = 1;
      std::uint32_t at = place;
      for (std::uint32_t level = 0; level < levels; ++level, at /= 2) {
        const double p = clipped(probabilities[at / 2]);
        const std::array<double, 2> of_side{1 - p, p};  // looked up: nobody can guess where a branch would go
        product *= of_side[at % 2];
      }
      return product;
    };
    // All but the last hop of a path are of four levels.
    return place > kLastSlot ? above(4) : above(place_depth(path_state.path[hop].place));
  }
  // Trains every node of the path towards its side, and at a leaf the leaf's regressor towards 0. After predict().
  void train(PathState& path_state);

  // P(right), unclipped, of all slots of a block; lane 0 is meaningless. `rows` is scratch. `soon`, if it is not null,
  // is a block that may be asked for next: while this one's rows are on their way, those of that one set out.
  Row block_probabilities(const ExampleView& x, const Blocks& blocks, BlockId block, std::vector<float*>& rows,
                          const BlockHeader* soon = nullptr) const;
  // The weight of a feature in a lane: the lane's margin is the sum of weight * value over the features of x.
  float weight(FeatureHash feature, const BlockHeader& block, std::uint8_t slot) const;
  // A node probability as predictions use it.
  double clipped(float p) const { return std::clamp(static_cast<double>(p), clip_, 1 - clip_); }

 private:
  void prefetch(const ExampleView& x, const BlockHeader& block) const;
  void find_rows(const ExampleView& x, std::uint64_t key, const Region& region, float** out) const;

  WeightTable* weights_;
  Loss loss_;
  Update update_;
  float rate_;
  double clip_;
  int ways_;
  const LaneTargets* targets_;  // targets_by_place()
};

}  // namespace cpt
