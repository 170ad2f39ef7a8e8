// PECOC, the paper's probability estimates by an error-correcting output code, word for word and in double precision.
// Slow, and nothing is shared with the product. Labels are 0 .. k - 1, k a power of two; a row of the code is a set of
// labels, and its regressor estimates the probability that the label is in the set.
#pragma once

#include <cstddef>
#include <vector>

namespace cpt {

// [row][label] -> 0 or 1: C = [1] for one label, [[C, C], [C, 1 - C]] for twice as many. Row 0 has all labels.
std::vector<std::vector<int>> hadamard_code(std::size_t k);

// What the regressors of all rows should say: r[row] = the sum of P over the labels of the row.
std::vector<double> exact_regressors(const std::vector<double>& probabilities);

// pecoc[label] = 2 * mean over the rows i of (C(i, label) r[i] + (1 - C(i, label)) (1 - r[i])) - 1, for r[0 .. k - 1].
// r[0] is not read: row 0 has no regressor and counts as 1. The estimates add up to 1, and each is in [2/k - 1, 1].
std::vector<double> pecoc_estimates(std::size_t k, const std::vector<double>& r);

// Estimates below 0 replaced by 0.
std::vector<double> clipped_at_zero(std::vector<double> estimates);
// The same, then divided by their sum, which is at least 1 for estimates that add up to 1.
std::vector<double> normalized(const std::vector<double>& estimates);

}  // namespace cpt
