// The rule by which a new label finds its place, and what the paper proves of it.
#pragma once

#include <cstdint>

namespace cpt {

// Algorithm 2's objective at a node with regressor estimate p = P(right) in [0, 1] and `left`, `right` >= 1 leaves
// below its sides: the new label goes right if it is above 0, else left. alpha in (0, 1].
//   (1 - alpha) * 2 * (p - 1/2) + alpha * log2(left / right)
double insertion_objective(double p, std::uint64_t left, std::uint64_t right, double alpha);

// kappa = 1 / (1 + 2^(1 - 1/alpha)): both sides of a node over n leaves hold less than kappa * n + (1 - kappa) leaves.
double kappa(double alpha);

// The paper's bound on the depth of a tree of n >= 1 labels grown by the rule: log n / log(1 / kappa) + 2.
// Infinite where n > 1 and alpha is too small for a double to hold 1 / kappa - 1 (below 0.001).
double depth_bound(std::uint64_t labels, double alpha);

}  // namespace cpt
