// The paper's table: P(label | x) is how often the label came with this very x, as a part of how often x came. Of an x
// that never came it says 0 for every label, and so it does for labels that never came with x: it generalizes nothing.
// Probabilities of all labels add up to 1, or are all 0.
//
// It has no weights, and takes no part of `clip`.
#pragma once

#include <vector>

#include "model/estimators/flat_estimator.h"
#include "model/estimators/frequencies.h"

namespace cpt {

class TableEstimator final : public FlatEstimator {
 public:
  // Borrows the frequencies too.
  TableEstimator(const Tree& tree, Frequencies& frequencies, const ModelOptions& options)
      : FlatEstimator(tree, options), frequencies_(&frequencies) {}

  void locate(const ExampleView& x, LabelId label, PathState& path_state) const override;
  double predict(PathState& path_state) const override;
  // Counts the path_state's label once more with x, with its importance.
  void train(PathState& path_state) override;
  std::vector<double> all_probabilities(const ExampleView& x) const override;

 private:
  Frequencies* frequencies_;
};

}  // namespace cpt
