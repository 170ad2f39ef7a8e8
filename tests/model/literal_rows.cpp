#include "model/literal_rows.h"

#include <algorithm>
#include <cmath>

namespace cpt {

double LiteralGroups::estimate(std::size_t regressor, const ExampleView& x) const {
  double margin = 0;
  for (std::size_t f = 0; regressor < weights_.size() && f < x.features.size(); ++f) {
    const auto found = weights_[regressor].find(x.features[f]);
    if (found != weights_[regressor].end()) margin += found->second * static_cast<double>(x.values[f]);
  }
  return options_.loss == Loss::kLogistic ? 1 / (1 + std::exp(-margin)) : std::clamp(margin, 0.0, 1.0);
}

void LiteralGroups::train(const std::vector<std::optional<double>>& targets, const ExampleView& x) {
  if (weights_.size() < targets.size()) weights_.resize(targets.size());
  std::vector<double> errors(targets.size());
  std::map<std::size_t, double> squares;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i]) errors[i] = (*targets[i] - estimate(i, x)) * static_cast<double>(x.importance) / x.squared_length();
    squares[i / 15] += errors[i] * errors[i];
  }
  for (std::size_t f = 0; f < x.features.size(); ++f) {
    const auto value = static_cast<double>(x.values[f]);
    for (const auto& [group, sum] : squares) squares_[group][x.features[f]] += value * value * sum;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (errors[i] == 0) continue;
      const double shrink = options_.update == Update::kAdaptive ? std::sqrt(squares_[i / 15][x.features[f]]) : 1;
      weights_[i][x.features[f]] += options_.learning_rate * value * errors[i] / shrink;
    }
  }
}

}  // namespace cpt
