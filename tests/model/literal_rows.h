// Linear regressors that every example tasks, word for word and in double precision: a map of weights each. Nothing is
// shared with the product but that fifteen of them, in their order, share the sums by which adaptive steps shrink.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"

namespace cpt {

class LiteralGroups {
 public:
  explicit LiteralGroups(const ModelOptions& options) : options_(options) {}

  double estimate(std::size_t regressor, const ExampleView& x) const;
  // Moves regressor i towards targets[i], if it has one.
  void train(const std::vector<std::optional<double>>& targets, const ExampleView& x);

 private:
  ModelOptions options_;
  std::vector<std::map<FeatureHash, double>> weights_;  // by regressor
  std::map<std::size_t, std::map<FeatureHash, double>> squares_;
};

}  // namespace cpt
