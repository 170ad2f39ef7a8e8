// Scaling the values of an example by the rarity of its features.
#pragma once

#include <span>

#include "model/rarity/feature_counts.h"

namespace cpt {

// Scales the values of `x`, which has all but `scaled`. `rarities` is parallel to the features, or empty: then all
// features are equally rare. With `bounded`, values are kept in [-kMostValue, kMostValue]. Afterwards `x` refers to
// `room`, too.
void scale(std::span<const Rarity> rarities, bool bounded, ScaledValues& room, ScaledExample& x);

}  // namespace cpt
