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
#include "model/blocks.h"
#include "model/kernels.h"
#include "model/weight_table.h"

namespace cpt {

// One example on its way to the leaf of one label, or on a part of that way. Reused from example to example, it
// allocates nothing.
struct Walk {
  ExampleView example;
  LabelId label = kNoLabel;
  std::uint64_t key = 0;  // of the example, where whole ones are counted: example_key()
  std::vector<Hop> path;
  bool at_leaf = false;                 // where the path ends; else it only leaves the blocks that it is in
  std::vector<float*> lines;            // [hop][feature]
  std::size_t lines_asked_for = 0;      // the first so many of them
  std::vector<const Targets*> targets;  // by hop
  std::vector<Line> probabilities;      // by hop: what the regressor of every lane estimates, unclipped
  std::vector<Line> sides;              // by hop: P(right) of every slot, where nodes have more than two ways
  std::vector<std::uint32_t> occupied;  // by hop, likewise: BlockContent::occupied

  // Of all lines, in so many blocks.
  PathLines lines_of(std::size_t blocks) const {
    return {lines.data(), example.values.data(), example.values.size(), blocks};
  }
  void forget_targets() {
    targets.clear();
    lines_asked_for = 0;
  }
  // Asks the memory for the first `count` lines, but for those that it was asked for already.
  void ask_for_lines(std::size_t count) {
    if (count <= lines_asked_for) return;
    float* const* const all = lines.data();
    for (std::size_t i = std::exchange(lines_asked_for, count); i < count; ++i) __builtin_prefetch(all[i], 1);
  }
};

// Borrows the weights. Const members only read and may run in several threads, each with its own Walk.
class Regressors {
 public:
  Regressors(WeightTable& weights, const ModelOptions& options);

  // Finds the lines of walk.example on walk.path, whose blocks are of `blocks`. `at_leaf` goes into the walk. Between
  // this and predict() is the time to ask the memory for them.
  void locate(const Blocks& blocks, bool at_leaf, Walk& walk) const;
  // The same in parts, by places alone, for that is all it takes to know the keys of blocks: begin(), then extend() for
  // each way from a block `top` on, at least one, then aim_at_end(). Lines are those of the walk before until extend()
  // finds others, which takes less time than to forget them. Of x the walk gets what learning needs: not its label's
  // name and its origin.
  static void begin(const ExampleView& x, LabelId label, Walk& walk) {
    // One by one: a view that was put together right before is not copied whole without waiting for its parts.
    walk.example.features = x.features;
    walk.example.values = x.values;
    walk.example.importance = x.importance;
    walk.label = label;
    walk.path.clear();
    walk.forget_targets();
  }
  void extend(const BlockLink& top, std::span<const std::uint8_t> places, Walk& walk) const;
  void aim_at_end(bool at_leaf, Walk& walk) const;
  int ways() const { return ways_; }
  // Computes the probabilities of all slots on the path. After locate(). Where nodes have more than two ways the hops
  // must name their blocks.
  void predict(const Blocks& blocks, Walk& walk) const;
  // The same where they have two, whatever the hops name.
  void predict(Walk& walk) const;
  // The product of the node probabilities of one hop of the path, each kept in [clip, 1 - clip]. After predict(). NaN
  // if the weights are not finite.
  double hop_probability(const Walk& walk, std::size_t hop) const {
    const Line& probabilities = ways_ == 2 ? walk.probabilities[hop] : walk.sides[hop];
    const std::uint32_t place = walk.path[hop].place;
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
    return place > kLastSlot ? above(4) : above(place_depth(walk.path[hop].place));
  }
  // Trains every node of the path towards its side, and at a leaf the leaf's regressor towards 0. After predict().
  void train(Walk& walk);

  // P(right), unclipped, of all slots of a block; lane 0 is meaningless. `lines` is scratch. `soon`, if it is not null,
  // is a block that may be asked for next: while this one's lines are on their way, those of that one set out.
  Line block_probabilities(const ExampleView& x, const Blocks& blocks, BlockId block, std::vector<float*>& lines,
                           const BlockLink* soon = nullptr) const;
  // The weight of a feature in a lane: the lane's margin is the sum of weight * value over the features of x.
  float weight(FeatureHash feature, const BlockLink& block, std::uint8_t slot) const;
  // A node probability as predictions use it.
  double clipped(float p) const { return std::clamp(static_cast<double>(p), clip_, 1 - clip_); }

 private:
  void prefetch(const ExampleView& x, const BlockLink& block) const;
  void find_lines(const ExampleView& x, std::uint64_t key, const Region& region, float** out) const;

  WeightTable* weights_;
  Loss loss_;
  Update update_;
  float rate_;
  double clip_;
  int ways_;
  const Targets* targets_;  // targets_by_place()
};

}  // namespace cpt
