#include "model/weights/block_steps.h"

#include <cmath>

#include "cpt/hashing.h"
#include "model/tree/insertion_rule.h"

namespace cpt {

namespace {

bool goes_right(float p, const BlockNodes& content, std::uint32_t slot, const ModelOptions& options,
                std::uint64_t coins) {
  if (options.tree == TreeKind::kRandom) return (coins >> 63) == 1;
  const std::size_t left = std::size_t{2} * slot;
  return insertion_objective(p, content.leaves[left], content.leaves[left + 1], options.effective_alpha()) > 0;
}

}  // namespace

Settling begin_settling(const ModelOptions& options, std::uint64_t label) { return {mix(mix(options.seed) + label)}; }

std::uint8_t settle_in_block(const Row& p, const BlockNodes& content, const ModelOptions& options, Settling& settling) {
  std::uint32_t place = 1;
  while (content.child[place].kind() == Child::Kind::kNode) {
    settling.coins = mix(settling.coins);
    // A regressor that has diverged has no preference; who predicts with it next will say so.
    const float preference = std::isnan(p[place]) ? 0.5F : p[place];
    const bool right = goes_right(preference, content, place, options, settling.coins);
    if (preference != 0.5F && right != (preference > 0.5F)) ++settling.disagreements;
    place = 2 * place + (right ? 1 : 0);
  }
  return static_cast<std::uint8_t>(place);
}

std::uint8_t draw_in_block(const Row& p, const BlockNodes& content, const Regressors& regressors, Drawing& drawing) {
  std::uint32_t place = 1;
  while (content.child[place].kind() == Child::Kind::kNode) {
    const double right = regressors.clipped(p[place]);
    drawing.random = mix(drawing.random + 0x9e3779b97f4a7c15ULL);
    const bool goes_right = static_cast<double>(drawing.random >> 11) * 0x1.0p-53 < right;
    drawing.probability *= goes_right ? right : 1 - right;
    place = 2 * place + (goes_right ? 1 : 0);
  }
  return static_cast<std::uint8_t>(place);
}

}  // namespace cpt
