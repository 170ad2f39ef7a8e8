// Trees for tests: grown by splits of chosen leaves, without a learner.
#pragma once

#include "model/random_stream.h"
#include "model/tree/tree.h"

namespace cpt {

// Every new label splits the leaf of a random one.
inline Tree random_tree(std::size_t labels, std::uint64_t seed) {
  Tree tree;
  Dice dice(seed);
  if (labels > 0) tree.add_first();
  while (tree.labels() < labels) tree.split(static_cast<LabelId>(dice.below(tree.labels())));
  return tree;
}

// Every new label splits the leaf of the last one: a chain as deep as there are labels.
inline Tree chain(std::size_t labels) {
  Tree tree;
  tree.add_first();
  while (tree.labels() < labels) tree.split(static_cast<LabelId>(tree.labels() - 1));
  return tree;
}

}  // namespace cpt
