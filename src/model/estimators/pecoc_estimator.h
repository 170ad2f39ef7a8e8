// PECOC of the paper over all labels at once: K - 1 regressors, K the least power of two that is not below the number
// of labels, each of which estimates the probability of a set of half of them. O(K) per example to train, O(K log K) to
// predict. The labels must be known beforehand: a further one would change what every regressor means.
//
// Row i = 1 .. K - 1 is the set of labels c with an odd number of bits in i & c: the paper's Hadamard code with every
// row but the constant one inverted, as in block_code.h. It has regressor i - 1 of LabelRegressors. With r_i the
// estimate of row i and v_0 = 1, v_i = 1 - 2 r_i, the paper's estimate of label c is the mean over i of v_i, its sign
// changed where row i holds c: a Walsh-Hadamard transform gives all of them. Estimates below 0 become 0, which brings
// them nearer to the truth; then FlatEstimator::share() makes them a distribution over the labels that there are. What
// it proves and what dividing costs: pecoc_bound() and normalized_pecoc_bound() of model/bounds.h.
#pragma once

#include <cstddef>
#include <vector>

#include "model/estimators/flat_estimator.h"
#include "model/weights/label_regressors.h"

namespace cpt {

class PecocEstimator final : public FlatEstimator {
 public:
  PecocEstimator(const Tree& tree, WeightTable& weights, const ModelOptions& options)
      : FlatEstimator(tree, options), rows_(weights, options) {}

  // Throws Error(kBadData): no label is new to the code.
  Insertion settle(const ExampleView& x) const override;
  void locate(const ExampleView& x, LabelId label, PathState& path_state) const override;
  double predict(PathState& path_state) const override;
  void train(PathState& path_state) override;
  std::vector<double> all_probabilities(const ExampleView& x) const override;

 private:
  std::size_t columns() const;
  std::vector<double> estimates(PathState& path_state) const;

  LabelRegressors rows_;
  std::vector<LaneTargets> aims_;  // scratch of train(), by row
};

// In place: values[c] becomes the sum over i of values[i], its sign changed where i & c has an odd number of bits. The
// size is a power of two.
void walsh_hadamard(std::vector<double>& values);

}  // namespace cpt
