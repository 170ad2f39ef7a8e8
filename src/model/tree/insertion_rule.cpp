#include "model/tree/insertion_rule.h"

#include <cmath>

namespace cpt {

double insertion_objective(double p, std::uint64_t left, std::uint64_t right, double alpha) {
  const double preference = (1 - alpha) * 2 * (p - 0.5);
  const double balance = left == right ? 0 : alpha * std::log2(static_cast<double>(left) / static_cast<double>(right));
  return preference + balance;
}

}  // namespace cpt
