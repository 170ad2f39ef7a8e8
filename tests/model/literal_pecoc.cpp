#include "model/literal_pecoc.h"

#include <algorithm>
#include <numeric>

namespace cpt {

std::vector<std::vector<int>> hadamard_code(std::size_t k) {
  if (k == 1) return {{1}};
  const std::vector<std::vector<int>> half = hadamard_code(k / 2);
  std::vector<std::vector<int>> code(k, std::vector<int>(k));
  for (std::size_t i = 0; i < k / 2; ++i) {
    for (std::size_t y = 0; y < k / 2; ++y) {
      code[i][y] = half[i][y];
      code[i][y + k / 2] = half[i][y];
      code[i + k / 2][y] = half[i][y];
      code[i + k / 2][y + k / 2] = 1 - half[i][y];
    }
  }
  return code;
}

std::vector<double> exact_regressors(const std::vector<double>& probabilities) {
  const std::size_t k = probabilities.size();
  const std::vector<std::vector<int>> code = hadamard_code(k);
  std::vector<double> r(k);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t y = 0; y < k; ++y) r[i] += code[i][y] * probabilities[y];
  }
  return r;
}

std::vector<double> pecoc_estimates(std::size_t k, const std::vector<double>& r) {
  const std::vector<std::vector<int>> code = hadamard_code(k);
  std::vector<double> estimates(k);
  for (std::size_t y = 0; y < k; ++y) {
    double sum = 1;
    for (std::size_t i = 1; i < k; ++i) sum += code[i][y] * r[i] + (1 - code[i][y]) * (1 - r[i]);
    estimates[y] = 2 * sum / static_cast<double>(k) - 1;
  }
  return estimates;
}

std::vector<double> clipped_at_zero(std::vector<double> estimates) {
  for (double& estimate : estimates) estimate = std::max(estimate, 0.0);
  return estimates;
}

std::vector<double> normalized(const std::vector<double>& estimates) {
  std::vector<double> result = clipped_at_zero(estimates);
  const double sum = std::accumulate(result.begin(), result.end(), 0.0);
  for (double& estimate : result) estimate /= sum;
  return result;
}

}  // namespace cpt
