// What an example does inside one block when it has no label's path to follow: a new label settles, a label is drawn,
// the best one is searched. Whoever goes down the tree takes these steps block by block, on one rank or from rank to
// rank.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "cpt/options.h"
#include "model/tree/blocks.h"
#include "model/weights/node_regressors.h"

namespace cpt {

// A new label on its way down by the rule of Algorithm 2.
struct Settling {
  std::uint64_t coins = 0;          // for random trees: the state of the label's coins
  std::uint32_t disagreements = 0;  // nodes so far at which it went against the regressor's preference
};

// At the root. The coins of a label are a function of the seed and the label's number, so that any rank tosses the
// same.
Settling begin_settling(const ModelOptions& options, std::uint64_t label);
// The place at which the label leaves the block; p as of Regressors::block_probabilities.
std::uint8_t settle_in_block(const Row& p, const BlockNodes& content, const ModelOptions& options, Settling& settling);

// A label that is being drawn from P(. | x).
struct Drawing {
  std::uint64_t random = 0;  // supplies the coins
  double probability = 1;    // of the way so far
};

// The place at which the draw leaves the block.
std::uint8_t draw_in_block(const Row& p, const BlockNodes& content, const Regressors& regressors, Drawing& drawing);

// By place: the probability of what hangs there, of a block whose own is `above`. Meaningless where nothing does.
using Reach = std::array<double, 32>;
inline Reach reach_of_places(const Row& p, const Regressors& regressors, double above) {
  Reach reach;
  reach[0] = 0;
  reach[1] = above;
  // Of all slots, whether they hold a node or not: that is quicker than to ask.
  for (std::size_t slot = 1; slot <= kLastSlot; ++slot) {
    const double right = regressors.clipped(p[slot]);
    reach[2 * slot] = reach[slot] * (1 - right);
    reach[2 * slot + 1] = reach[slot] * right;
  }
  return reach;
}

// Calls visit(place, probability) for every leaf and block that hangs in a block, whose own probability is `above`.
template <class Visit>
void reach_in_block(const Row& p, const BlockNodes& content, const Regressors& regressors, double above, Visit visit) {
  const Reach reach = reach_of_places(p, regressors, above);
  for (std::uint8_t place = 1; place < 32; ++place) {
    if (content.child[place].is_exit()) visit(place, reach[place]);
  }
}

// The same for those whose probability is at least `least`, and so is not NaN.
template <class Visit>
void reach_in_block(const Row& p, const BlockNodes& content, const Regressors& regressors, double above, double least,
                    Visit visit) {
  const Reach reach = reach_of_places(p, regressors, above);
  // Few of them as a rule, and nobody can tell which: bits are counted where branches would be guessed.
  std::uint32_t places = 0;
  for (std::uint32_t place = 1; place < 32; ++place) {
    places |= static_cast<std::uint32_t>(content.child[place].is_exit() & (reach[place] >= least)) << place;
  }
  for (; places != 0; places &= places - 1) {
    const auto place = static_cast<std::uint8_t>(std::countr_zero(places));
    visit(place, reach[place]);
  }
}

}  // namespace cpt
