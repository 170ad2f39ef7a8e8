// PECOC of the paper over all labels at once, with K - 1 regressors, where K is the least power of two that is not
// below the number of labels. Each regressor estimates the probability of a set of half the labels. O(K) per example to
// train, O(K log K) to predict. All labels must be known beforehand: another one would change the meaning of every
// regressor.
//
// Row i = 1 .. K - 1 is the set of labels c with an odd number of bits in i & c: the paper's Hadamard code with every
// row but the constant one inverted, as in hadamard_code.h. Row i has regressor i - 1 of LabelRegressors. With r_i the
// estimate of row i, v_0 = 1 and v_i = 1 - 2 r_i, the paper's estimate of label c is the mean over i of v_i, its sign
// changed if row i contains c; a Walsh-Hadamard transform computes it for all labels. Estimates below 0 become 0, which
// never moves them away from the truth, and FlatEstimator::normalized() turns them into a distribution over the actual
// labels. The bounds on its error: pecoc_bound() and normalized_pecoc_bound() of tree/bounds.h.
#pragma once

#include <cstddef>
#include <vector>

#include "model/estimators/estimator.h"
#include "model/weights/regressors.h"

namespace cpt {

class PecocEstimator final : public FlatEstimator {
 public:
  PecocEstimator(const Tree& tree, WeightTable& weights, const ModelOptions& options)
      : FlatEstimator(tree, options), regressors_(weights, options) {}

  // Throws Error(kBadData): the code has no room for a new label.
  Insertion choose_split(const ScaledExample& x) const override;
  void locate(const ScaledExample& x, LabelId label, PathState& path_state) const override;
  double predict(PathState& path_state) const override;
  void train(PathState& path_state) override;
  std::vector<double> all_probabilities(const ScaledExample& x) const override;

 private:
  std::size_t columns() const;
  std::vector<double> estimates(PathState& path_state) const;

  LabelRegressors regressors_;
  std::vector<LaneTargets> row_targets_;  // scratch space of train(), by group
};

// In place: values[c] becomes the sum over i of values[i], its sign changed if i & c has an odd number of bits. The
// size must be a power of two.
void walsh_hadamard(std::vector<double>& values);

}  // namespace cpt
