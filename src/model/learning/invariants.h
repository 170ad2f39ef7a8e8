// What must hold of every tree, as one function: tests call it at their end, debug builds after every merge.
#pragma once

#include <string>

#include "model/learning/learner.h"

namespace cpt {

// The first invariant that does not hold, in words; empty if all hold.
//   links      a block and the place it hangs at name each other; every block, node and leaf is reached exactly once
//   leaves     every label has exactly one leaf, and its recorded place is where it hangs
//   counts     the leaves recorded at a place are those found there and below
//   slots      a node has two children; what hangs at places 16 .. 31 is a leaf or a block; nothing hangs below nothing
//   keys       odd, and equal only for the same block; partitions follow from where a block hangs
//   balance    claim 1 of the paper: neither side of a node over n leaves holds more than kappa n + 1 - kappa
//   depth      the deepest leaf is within the paper's bound
// Random trees need not keep the last two, nor trees that nothing is estimated by.
std::string find_invariant_violation(const Tree& tree, const ModelOptions& options);

}  // namespace cpt
