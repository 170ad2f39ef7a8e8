// One-against-all: one regressor for each label, trained towards 1 by the label's own examples and towards 0 by all
// others. O(n) per example.
//
// The regressors of different labels know nothing of one another, so their estimates need not add up to 1. Log loss,
// Brier score and the search for the best labels need a distribution, so each estimate is divided by the sum of all;
// see FlatEstimator::normalized().
//
// Label i has regressor i of LabelRegressors. It is trained from the label's first example on, and unchanged before.
#pragma once

#include <vector>

#include "model/estimators/estimator.h"
#include "model/weights/regressors.h"

namespace cpt {

class OneAgainstAll final : public FlatEstimator {
 public:
  OneAgainstAll(const Tree& tree, WeightTable& weights, const ModelOptions& options)
      : FlatEstimator(tree, options), regressors_(weights, options) {}

  void locate(const ScaledExample& x, LabelId label, PathState& path_state) const override;
  double predict(PathState& path_state) const override;
  void train(PathState& path_state) override;
  std::vector<double> all_probabilities(const ScaledExample& x) const override;

  // The estimate of the label's regressor, not divided by the sum of all.
  double estimate(const ScaledExample& x, LabelId label) const;
  // The weight of a feature in the label's regressor.
  float weight(FeatureHash feature, LabelId label) const { return regressors_.weight(feature, label); }

 private:
  double sum_of_estimates(const PathState& path_state) const;

  LabelRegressors regressors_;
};

}  // namespace cpt
