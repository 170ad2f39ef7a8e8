// Scaling the values of an example by the rarity of its features.
#pragma once

#include <span>

#include "model/rarity/feature_counts.h"

namespace cpt {

// `rarities` is parallel to the features, or empty: then all features are equally rare. With `bounded`, values are kept
// in [-kMostValue, kMostValue]. The result refers to x and to `room`.
ScaledExample scale(const ExampleView& x, std::span<const Rarity> rarities, bool bounded, ScaledValues& room);

}  // namespace cpt
