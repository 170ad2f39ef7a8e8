// The values of an example, scaled by the rarity of its features.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpt/example.h"

namespace cpt {

// In eighths of a bit, 1 .. 255; 0 for the constant feature, which has none.
using Rarity = std::uint8_t;

// An example as node regressors take it.
struct ScaledExample : ExampleView {
  // Parallel to values: x_i * d_i, d_i = r_i^2 * sum(x^2) / sum(x^2 r^2) by the rarities r, with sums over all features
  // but the constant one, whose d is 1.
  std::span<const float> scaled;
};

// Owns what a ScaledExample refers to. Reused from example to example, it allocates nothing.
struct ScaledValues {
  std::vector<Rarity> rarities;
  std::vector<float> values;
  std::vector<float> scaled;
};

// With the safe step, values are clamped to this size: no sum over features then leaves the floats.
inline constexpr float kMostSafeValue = 1e9F;

}  // namespace cpt
