// The descent through the blocks of a tree without a known path: inserting a new label, drawing a label, searching for
// the most probable ones.
//
// A whole tree and a single partition of it both descend by the functions of this file. So an example that travels from
// partition to partition goes where it would go in the whole tree, to the last bit of every probability.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "cpt/options.h"
#include "model/tree/blocks.h"
#include "model/weights/regressors.h"

namespace cpt {

// The insertion rule, Algorithm 2 of the paper: its objective at a node with regressor estimate p = P(right) in [0, 1]
// and `left`, `right` >= 1 leaves on its sides. A new label goes right if the objective is above 0, else left. alpha in
// (0, 1].
//   (1 - alpha) * 2 * (p - 1/2) + alpha * log2(left / right)
// tree/bounds.h states what the paper proves about trees grown by this rule.
double insertion_objective(double p, std::uint64_t left, std::uint64_t right, double alpha);

// A new label during its descent.
struct InsertionState {
  std::uint64_t coins = 0;          // of random trees: the generator of the label's coin flips
  std::uint32_t disagreements = 0;  // nodes so far at which the label went against the regressor's preference
};
// The state at the root. The coins are a function of the seed of the tree and the label's id, so every rank flips the
// same ones.
InsertionState begin_insertion(std::uint64_t seed, std::uint64_t label);
// The exit by which the label leaves a block with the probabilities p (see NodeRegressors::block_probabilities()).
std::uint8_t insertion_exit(const Row& p, const BlockNodes& nodes, const ModelOptions& options, InsertionState& state);

// A label being drawn from Q(. | x).
struct DrawState {
  std::uint64_t random = 0;  // the generator
  double probability = 1;    // of the path so far
};
// The exit by which the draw leaves a block.
std::uint8_t draw_exit(const Row& p, const BlockNodes& nodes, const NodeRegressors& regressors, DrawState& state);

// Probabilities multiplied in another order differ in the last bits: searches allow for this much.
inline constexpr double kRoundingMargin = 0.999;

// The probability of reaching each position of a block whose own probability is `above`. Meaningless for positions that
// hold nothing.
using PositionProbabilities = std::array<double, 32>;
inline PositionProbabilities position_probabilities(const Row& p, const NodeRegressors& regressors, double above) {
  PositionProbabilities reach;
  reach[0] = 0;
  reach[1] = above;
  // For all slots, whether they hold a node or not: that is quicker than testing.
  for (std::size_t slot = 1; slot <= kLastSlot; ++slot) {
    const double right = regressors.clipped(p[slot]);
    reach[2 * slot] = reach[slot] * (1 - right);
    reach[2 * slot + 1] = reach[slot] * right;
  }
  return reach;
}

// Calls visit(position, probability) for every leaf and link of a block whose own probability is `above`.
template <class Visit>
void for_each_exit(const Row& p, const BlockNodes& nodes, const NodeRegressors& regressors, double above, Visit visit) {
  const PositionProbabilities reach = position_probabilities(p, regressors, above);
  for (std::uint8_t position = 1; position < 32; ++position) {
    if (nodes.child[position].is_exit()) visit(position, reach[position]);
  }
}

// The same for exits whose probability is at least `least`, and so not NaN.
template <class Visit>
void for_each_exit(const Row& p, const BlockNodes& nodes, const NodeRegressors& regressors, double above, double least,
                   Visit visit) {
  const PositionProbabilities reach = position_probabilities(p, regressors, above);
  // Few exits qualify, and which ones is unpredictable: collecting bits avoids mispredicted branches.
  std::uint32_t exits = 0;
  for (std::uint32_t position = 1; position < 32; ++position) {
    exits |= static_cast<std::uint32_t>(nodes.child[position].is_exit() & (reach[position] >= least)) << position;
  }
  for (; exits != 0; exits &= exits - 1) {
    const auto position = static_cast<std::uint8_t>(std::countr_zero(exits));
    visit(position, reach[position]);
  }
}

// One example descending from block 0 of a whole tree or of a partition. Borrows everything; `rows` is scratch space.
class Descent {
 public:
  Descent(const ScaledExample& x, const Blocks& blocks, const NodeRegressors& regressors, std::vector<float*>& rows)
      : x_(x), blocks_(blocks), regressors_(regressors), rows_(rows) {}

  // Both end at a leaf, or at a link to a block outside.
  PathStep insert(const ModelOptions& options, InsertionState& state) const;
  PathStep draw(DrawState& state) const;

  // A best-first search from block 0, whose own probability is `above`. A Search has
  //   double least() const               worse exits are not visited; may grow during the search
  //   void add_leaf(LabelId, double p)
  //   void add_outside(std::uint8_t exit, double p)   a link to a block outside
  //   void add_subtree(double p, std::uint32_t leaves)   any link, after add_outside()
  // Any order opens all blocks with a probability of at least the final least(); best first opens the fewest others.
  template <class Search>
  void search(double above, Search& search) const;

 private:
  template <class ChooseExit>
  PathStep follow(ChooseExit choose_exit) const;

  const ScaledExample& x_;
  const Blocks& blocks_;
  const NodeRegressors& regressors_;
  std::vector<float*>& rows_;
};

template <class Search>
void Descent::search(double above, Search& search) const {
  struct Reached {
    double probability;
    BlockId block;
    bool operator<(const Reached& other) const { return probability < other.probability; }
  };
  std::vector<Reached> frontier{{above, 0}};  // a heap
  while (!frontier.empty() && frontier.front().probability >= search.least()) {
    std::pop_heap(frontier.begin(), frontier.end());
    const Reached top = frontier.back();
    frontier.pop_back();
    const BlockNodes& nodes = blocks_.nodes(top.block);
    const BlockHeader* next = frontier.empty() ? nullptr : &blocks_.header(frontier.front().block);
    const Row p = regressors_.block_probabilities(x_, blocks_, top.block, rows_, next);
    for_each_exit(p, nodes, regressors_, top.probability, search.least(), [&](std::uint8_t exit, double probability) {
      const Child child = nodes.child[exit];
      if (child.kind() == Child::Kind::kLeaf) return search.add_leaf(child.label(), probability);
      if (child.is_outside()) {
        search.add_outside(exit, probability);
      } else {
        frontier.push_back({probability, child.block()});
        std::push_heap(frontier.begin(), frontier.end());
      }
      search.add_subtree(probability, nodes.leaves[exit]);
    });
  }
}

}  // namespace cpt
