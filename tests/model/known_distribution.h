// Distributions that a test makes up, and regressors that err about them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/random_stream.h"

namespace cpt {

// By how much a computed probability may miss the exact one.
inline constexpr double kRounding = 1e-12;

// P of n labels. `spread` 0: all equal; the greater, the more is on few labels.
inline std::vector<double> random_distribution(std::size_t n, double spread, Dice& dice) {
  std::vector<double> p(n);
  double sum = 0;
  for (double& value : p) sum += value = std::exp(dice.between(-spread, spread));
  for (double& value : p) value /= sum;
  return p;
}

// An estimate of p, off by up to `error` but in [0, 1].
inline double perturbed(double p, double error, Dice& dice) {
  return std::clamp(p + dice.between(-error, error), 0.0, 1.0);
}

}  // namespace cpt
