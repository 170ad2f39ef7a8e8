// The bounds that the paper proves (Beygelzimer et al., Conditional Probability Tree Estimation Analysis and
// Algorithms, UAI 2009), in closed form: how unbalanced and how deep a tree grown by the insertion rule can be, how
// often it goes against its regressors, and how far off an estimate can be. Also the invariants that every tree must
// keep.
//
// Arguments out of the stated ranges are not detected. Bounds on trees hold for trees grown by the rule,
// whatever the regressors say and in whatever order labels come; alpha in (0, 1] is the rule's. For alpha below 0.001,
// where a double cannot hold 1 / kappa - 1, the bounds on depths are infinite. `mean_square` is the mean of
// (estimate - truth)^2 over the regressors named. Logarithms in formulas are to base 2.
#pragma once

#include <cstdint>
#include <string>

#include "cpt/options.h"
#include "model/tree/tree.h"

namespace cpt {

// kappa = 1 / (1 + 2^(1 - 1/alpha)), in [1/2, 1]. A new label goes left, whatever the regressor says, at a node whose
// right side holds kappa of its leaves or more, and right if the left side holds more than kappa (claim 2). So of n
// leaves below a node, the right side holds less than kappa n + 1 - kappa, and the left side at most that (claim 1).
// The left side reaches it only by a tie, as with three leaves at alpha = 1.
double kappa(double alpha);

// The depth theorem: no leaf of a tree of n >= 1 labels is deeper than log n / log(1 / kappa) + 2.
double depth_bound(std::uint64_t labels, double alpha);

// A bound on the sum of the depths of all leaves of a tree of n >= 1 labels, from the total-depth theorem of the paper:
// (n - 1) log(n - 1) / H(kappa) + n (0 for one label), H(kappa) = -kappa log kappa - (1 - kappa) log(1 - kappa).
// The theorem says n log n / H(kappa), but for trees with at most kappa n leaves on each side of every node. Claim 1
// does not promise that much, and it is not true either: the rule's tree of three labels at alpha = 1 has a total depth
// of 5 > 3 log 3.
double total_depth_bound(std::uint64_t labels, double alpha);

// A bound on the number of disagreements of a tree of n >= 1 labels, over all labels: nodes at which a new label went
// against the regressor's preference. For alpha < 1 it is n / 2 log n - (n - 1) for any alpha, because a disagreement
// sends the label to the side with fewer leaves. For alpha = 1 every node that a label passes can be one:
// total_depth_bound(n) - 2 (n - 1).
double disagreement_bound(std::uint64_t labels, double alpha);

// The squared-error theorem: (Q - P)^2 <= d^2 mean_square for the estimate Q of a label's probability P, with d nodes
// above its leaf and the mean over these nodes.
double squared_error_bound(double depth, double mean_square);

// The PECOC lemma: (estimate - P)^2 <= 4 ((k - 1) / k)^2 mean_square for k labels, a power of two, and the mean over
// the k - 1 regressors. Row 0 of the code has no regressor and must not be counted in the mean. Replacing estimates
// below 0 by 0 keeps the bound.
double pecoc_bound(double labels, double mean_square);

// The same for estimates that are also divided by their sum: (k - 1) mean_square, the sum of the squared errors. The
// lemma's bound does not hold for them if k > 2.
double normalized_pecoc_bound(double labels, double mean_square);

// The k-way theorem: (Q - P)^2 <= 4 d^2 ((k - 1) / k)^2 mean_square with PECOC over the k children of each node, k a
// power of two, d nodes above the leaf (log_k n in a full tree), and the mean over their d (k - 1) regressors.
double k_way_bound(double k, double depth, double mean_square);

// Describes the first invariant that the tree violates; empty if it keeps them all. Debug builds call it after every
// merge. The invariants:
//   links      a block and the position it hangs at name each other; blocks, nodes and leaves are reached exactly once
//   leaves     every label has exactly one leaf, where the tree records it
//   counts     the number of leaves recorded at a position is the number found there and below
//   slots      a node has two children; positions 16 .. 31 hold leaves or links; nothing hangs below nothing
//   keys       odd, and no two blocks share one; the partition of a block follows from where it hangs
//   balance    claim 1 of the paper; see kappa()
//   depth      the deepest leaf is within depth_bound()
// The last two are checked only if options.bounds_shape().
std::string find_invariant_violation(const Tree& tree, const ModelOptions& options);

}  // namespace cpt
