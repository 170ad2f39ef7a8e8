// Scaling the values of an example by the rarity of its features.
#pragma once

#include <span>

#include "model/rarity/scaled_example.h"

namespace cpt {

// Scales the values of `x`, which has all but `scaled`. `rarities` is parallel to the features, or empty: then all
// features are equally rare. With `bounded`, values are kept in [-kMostSafeValue, kMostSafeValue]. Afterwards `x`
// refers to `room`, too.
void scale(std::span<const Rarity> rarities, bool bounded, ScaledValues& room, ScaledExample& x);

}  // namespace cpt
