// Questions about the whole distribution P(. | x): its best labels, a draw from it, all of it.
#pragma once

#include <cstdint>
#include <vector>

#include "model/estimator.h"

namespace cpt {

struct Ranked {
  LabelId label = kNoLabel;
  double probability = 0;
};

// The k most probable labels, best first, exact: a best-first search that opens a block only when no leaf found so far
// beats it. Equal probabilities: the lower label id first. Fewer than k if the tree has fewer labels, or if fewer have
// a probability of at least `threshold`.
std::vector<Ranked> top_k(const Estimator& estimator, const ExampleView& x, std::size_t k, double threshold = 0);

// A label drawn from P(. | x) by a walk down the tree, with its probability; `random` supplies the coins. The tree must
// not be empty.
Ranked draw(const Estimator& estimator, const ExampleView& x, std::uint64_t random);

// P(label | x) of every label, by id. O(n).
std::vector<double> all_probabilities(const Estimator& estimator, const ExampleView& x);

}  // namespace cpt
