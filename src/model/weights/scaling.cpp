#include "model/weights/scaling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/weights/kernels.h"

namespace cpt {

namespace {

bool has_large(std::span<const float> values) {
  const auto is_large = [](bool large, float value) { return large | !(std::abs(value) <= kMostSafeValue); };
  return std::accumulate(values.begin(), values.end(), false, is_large);
}

}  // namespace

void scale(std::span<const Rarity> rarities, bool bounded, ScaledValues& room, ScaledExample& x) {
  const auto find_scaled = [&] {
    if (rarities.empty()) {
      x.scaled = x.values;
      return has_large(x.values);
    }
    room.scaled.resize(padded(rarities.size()));
    x.scaled = {room.scaled.data(), rarities.size()};
    return scale_values(x.values, rarities, room.scaled.data());
  };
  if (find_scaled() && bounded) {
    room.values.assign(x.values.begin(), x.values.end());
    for (float& value : room.values) value = std::clamp(value, -kMostSafeValue, kMostSafeValue);
    x.values = room.values;
    find_scaled();
  }
}

}  // namespace cpt
