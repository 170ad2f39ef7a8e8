// One-against-all: a regressor for every label, trained towards 1 by the label's own examples and towards 0 by all
// others. O(n) per example.
//
// Regressors of different labels know nothing of one another, so what they say need not add up to 1. Probabilities
// must: log loss, Brier score and a search for the best labels ask for a distribution. So each estimate is divided by
// the sum of all; what `clip` then does: FlatEstimator::share().
//
// Label i has regressor i of LabelRegressors. A regressor is trained from the label's first example on; before that its
// lane stands still.
#pragma once

#include <vector>

#include "model/estimators/flat_estimator.h"
#include "model/weights/label_regressors.h"

namespace cpt {

class OneAgainstAll final : public FlatEstimator {
 public:
  OneAgainstAll(const Tree& tree, WeightTable& weights, const ModelOptions& options)
      : FlatEstimator(tree, options), banks_(weights, options) {}

  void locate(const ExampleView& x, LabelId label, PathState& path_state) const override;
  double predict(PathState& path_state) const override;
  void train(PathState& path_state) override;
  std::vector<double> all_probabilities(const ExampleView& x) const override;

  // What the label's regressor says of x, before it is divided by the sum of all.
  double estimate(const ExampleView& x, LabelId label) const;
  // The weight of a feature in the label's regressor.
  float weight(FeatureHash feature, LabelId label) const { return banks_.weight(feature, label); }

 private:
  double sum_of_estimates(const PathState& path_state) const;

  LabelRegressors banks_;
};

}  // namespace cpt
