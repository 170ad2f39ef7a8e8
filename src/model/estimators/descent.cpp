#include "model/estimators/descent.h"

#include <cmath>

#include "core/hashing/random.h"
#include "cpt/hashing.h"

namespace cpt {

namespace {

bool goes_right(float p, const BlockNodes& nodes, std::uint32_t slot, const ModelOptions& options,
                std::uint64_t coins) {
  if (options.tree == TreeKind::kRandom) return (coins >> 63) == 1;
  const std::size_t left = std::size_t{2} * slot;
  return insertion_objective(p, nodes.leaves[left], nodes.leaves[left + 1], options.effective_alpha()) > 0;
}

}  // namespace

double insertion_objective(double p, std::uint64_t left, std::uint64_t right, double alpha) {
  const double preference = (1 - alpha) * 2 * (p - 0.5);
  const double balance = left == right ? 0 : alpha * std::log2(static_cast<double>(left) / static_cast<double>(right));
  return preference + balance;
}

InsertionState begin_insertion(std::uint64_t seed, std::uint64_t label) { return {mix(mix(seed) + label)}; }

std::uint8_t insertion_exit(const Row& p, const BlockNodes& nodes, const ModelOptions& options, InsertionState& state) {
  std::uint32_t position = 1;
  while (nodes.child[position].kind() == Child::Kind::kNode) {
    state.coins = mix(state.coins);
    // A regressor that has diverged has no preference; the next prediction with it will report the divergence.
    const float preference = std::isnan(p[position]) ? 0.5F : p[position];
    const bool right = goes_right(preference, nodes, position, options, state.coins);
    if (preference != 0.5F && right != (preference > 0.5F)) ++state.disagreements;
    position = 2 * position + (right ? 1 : 0);
  }
  return static_cast<std::uint8_t>(position);
}

std::uint8_t draw_exit(const Row& p, const BlockNodes& nodes, const NodeRegressors& regressors, DrawState& state) {
  std::uint32_t position = 1;
  while (nodes.child[position].kind() == Child::Kind::kNode) {
    const double right = regressors.clipped(p[position]);
    state.random = mix(state.random + Random::kStep);
    const bool goes_right = to_unit(state.random) < right;
    state.probability *= goes_right ? right : 1 - right;
    position = 2 * position + (goes_right ? 1 : 0);
  }
  return static_cast<std::uint8_t>(position);
}

template <class ChooseExit>
PathStep Descent::follow(ChooseExit choose_exit) const {
  for (BlockId block = 0;;) {
    const BlockNodes& nodes = blocks_.nodes(block);
    const Row p = regressors_.block_probabilities(x_, blocks_, block, rows_);
    const std::uint8_t exit = choose_exit(p, nodes);
    const Child child = nodes.child[exit];
    if (child.kind() != Child::Kind::kBlock || child.is_outside()) return {block, exit};
    block = child.block();
  }
}

PathStep Descent::insert(const ModelOptions& options, InsertionState& state) const {
  return follow([&](const Row& p, const BlockNodes& nodes) { return insertion_exit(p, nodes, options, state); });
}

PathStep Descent::draw(DrawState& state) const {
  return follow([&](const Row& p, const BlockNodes& nodes) { return draw_exit(p, nodes, regressors_, state); });
}

}  // namespace cpt
