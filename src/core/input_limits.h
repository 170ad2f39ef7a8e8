// Limits on user input that several layers check.
#pragma once

#include <string>
#include <vector>

namespace cpt {

// The largest magnitude of a feature value, of a scale, and of their products.
inline constexpr double kMaxValue = 1e30;

// Throws Error(kUsage) that names the first of `interactions` that is not two bytes long.
void require_pairs(const std::vector<std::string>& interactions);

}  // namespace cpt
