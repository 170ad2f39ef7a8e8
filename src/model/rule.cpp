#include "model/rule.h"

#include <cmath>

namespace cpt {

double insertion_objective(double p, std::uint64_t left, std::uint64_t right, double alpha) {
  const double preference = (1 - alpha) * 2 * (p - 0.5);
  const double balance = left == right ? 0 : alpha * std::log2(static_cast<double>(left) / static_cast<double>(right));
  return preference + balance;
}

double kappa(double alpha) { return 1 / (1 + std::exp2(1 - 1 / alpha)); }

double depth_bound(std::uint64_t labels, double alpha) {
  if (labels <= 1) return 2;
  // log(1 / kappa) without kappa itself, which for small alpha is 1 to the last bit.
  return std::log(static_cast<double>(labels)) / std::log1p(std::exp2(1 - 1 / alpha)) + 2;
}

}  // namespace cpt
