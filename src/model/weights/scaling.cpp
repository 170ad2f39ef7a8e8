#include "model/weights/scaling.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/weights/kernels.h"

namespace cpt {

ScaledExample scale(const ExampleView& x, std::span<const Rarity> rarities, bool bounded, ScaledValues& room) {
  ScaledExample example{x, x.values};
  const auto is_large = [](bool large, float value) { return large | !(std::abs(value) <= kMostValue); };
  if (bounded && std::accumulate(x.values.begin(), x.values.end(), false, is_large)) {
    room.values.assign(x.values.begin(), x.values.end());
    for (float& value : room.values) value = std::clamp(value, -kMostValue, kMostValue);
    example.scaled = example.values = room.values;
  }
  if (rarities.empty()) return example;
  room.scaled.resize((rarities.size() + kLanes - 1) / kLanes * kLanes);
  scale_values(example.values, rarities, room.scaled.data());
  example.scaled = {room.scaled.data(), rarities.size()};
  return example;
}

}  // namespace cpt
