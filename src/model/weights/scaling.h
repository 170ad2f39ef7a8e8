// Scaling the values of an example by the rarity of its features.
#pragma once

#include <span>

#include "model/rarity/scaled_example.h"

namespace cpt {

// Computes x.scaled from the other members of `x`. `rarities` is parallel to the features, or empty: then all features
// are equally rare. With `bounded`, values are kept in [-kMostSafeValue, kMostSafeValue]. Afterwards `x` may refer to
// `room`.
void scale(std::span<const Rarity> rarities, bool bounded, ScaledValues& room, ScaledExample& x);

}  // namespace cpt
