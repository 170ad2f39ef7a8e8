// The rule by which a new label finds its place. What the paper proves of it: bounds.h.
#pragma once

#include <cstdint>

namespace cpt {

// Algorithm 2's objective at a node with regressor estimate p = P(right) in [0, 1] and `left`, `right` >= 1 leaves
// below its sides: the new label goes right if it is above 0, else left. alpha in (0, 1].
//   (1 - alpha) * 2 * (p - 1/2) + alpha * log2(left / right)
double insertion_objective(double p, std::uint64_t left, std::uint64_t right, double alpha);

}  // namespace cpt
