// What an example does inside one block when it has no label's path to follow: a new label settles, a label is drawn,
// the best one is searched. Whoever goes down the tree takes these steps block by block, on one rank or from rank to
// rank.
#pragma once

#include <array>
#include <cstdint>

#include "cpt/options.h"
#include "model/blocks.h"
#include "model/regressors.h"

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
std::uint8_t settle_in_block(const Line& p, const BlockContent& content, const ModelOptions& options,
                             Settling& settling);

// A label that is being drawn from P(. | x).
struct Drawing {
  std::uint64_t random = 0;  // supplies the coins
  double probability = 1;    // of the way so far
};

// The place at which the draw leaves the block.
std::uint8_t draw_in_block(const Line& p, const BlockContent& content, const Regressors& regressors, Drawing& drawing);

// Calls visit(place, probability) for every leaf and block that hangs in a block, whose own probability is `above`.
template <class Visit>
void reach_in_block(const Line& p, const BlockContent& content, const Regressors& regressors, double above,
                    Visit visit) {
  std::array<double, 32> reach{};
  reach[1] = above;
  for (std::size_t place = 1; place < 32; ++place) {
    const Child child = content.child[place];
    if (child.kind() == Child::Kind::kNode) {
      const double right = regressors.clipped(p[place]);
      reach[2 * place] = reach[place] * (1 - right);
      reach[2 * place + 1] = reach[place] * right;
    } else if (child.kind() != Child::Kind::kNothing) {
      visit(static_cast<std::uint8_t>(place), reach[place]);
    }
  }
}

}  // namespace cpt
