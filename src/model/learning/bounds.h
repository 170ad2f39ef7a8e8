// What the paper proves, in closed form: how far a tree grown by the rule can be out of balance, how deep it can be and
// how often it goes against its regressors, and how far an estimate can be off. Learning and predicting need none of
// it.
//
// Nothing is checked: out of the ranges that are named the results mean nothing. Trees are those of the rule, whatever
// the regressors say and in whatever order the labels come; alpha in (0, 1] is the rule's. Where alpha is so small that
// a double does not hold 1 / kappa - 1 (below 0.001), bounds on depths are infinite. Errors of regressors are given as
// `mean_square`, the mean of (estimate - truth)^2 over the regressors named.
#pragma once

#include <cstdint>

namespace cpt {

// kappa = 1 / (1 + 2^(1 - 1/alpha)), in [1/2, 1]: where the right side of a node holds kappa of its leaves or more, a
// new leaf goes left whatever the regressor says; where the left side holds more than kappa, it goes right (claim 2).
// So of n leaves below a node the right side holds less than kappa * n + (1 - kappa), and the left side at most that
// (claim 1): the left side has it exactly where a tie was decided, as with three leaves at alpha = 1.
double kappa(double alpha);

// The depth theorem: no leaf of a tree of n >= 1 labels is deeper than log n / log(1 / kappa) + 2.
double depth_bound(std::uint64_t labels, double alpha);

// What follows for a tree of n >= 1 labels from the paper's total-depth theorem: the sum of the depths of all leaves is
// at most (n - 1) log2(n - 1) / H(kappa) + n (none for one label), where H(kappa) = -kappa log2 kappa - (1 - kappa)
// log2(1 - kappa). The theorem itself says n log2 n / H(kappa), but of trees with at most kappa * n leaves on both
// sides of every node. That is more than claim 1 gives, and more than is true: the rule's tree of three labels at
// alpha = 1 has a total depth of 5 > 3 log2 3.
double total_depth_bound(std::uint64_t labels, double alpha);

// The most disagreements that a tree of n >= 1 labels can cost, all labels together: nodes at which a new label went
// against the regressor's preference. n / 2 * log2 n - (n - 1) for alpha < 1, whatever alpha, since a disagreement then
// sends the label to the side with fewer leaves; total_depth_bound(n) - 2 (n - 1) for alpha = 1, where it may occur at
// every node that a label passes.
double disagreement_bound(std::uint64_t labels, double alpha);

// The squared-error theorem: (Q - P)^2 <= d^2 * mean_square for the estimate Q of a label's probability P, d nodes
// above its leaf and the mean over these nodes.
double squared_error_bound(double depth, double mean_square);

// The PECOC lemma: (pecoc - P)^2 <= 4 ((k - 1) / k)^2 * mean_square for k labels, a power of two, and the mean over the
// k - 1 regressors. Row 0 of the code, which has none, must not be counted in the mean. Holds as well for estimates
// below 0 replaced by 0.
double pecoc_bound(double labels, double mean_square);

// The same where estimates below 0 are replaced by 0 and all then divided by their sum: (k - 1) * mean_square, that is,
// the sum of the squared errors. The lemma's bound does not hold for them if k > 2.
double normalized_pecoc_bound(double labels, double mean_square);

// The k-way theorem: (Q - P)^2 <= 4 d^2 ((k - 1) / k)^2 * mean_square with PECOC over the k children of each node, k a
// power of two, d nodes above the leaf (log_k n in a full tree), and the mean over their d (k - 1) regressors.
double k_way_bound(double k, double depth, double mean_square);

}  // namespace cpt
