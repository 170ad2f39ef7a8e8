// Counting what a prediction was worth, before the example is learned.
#pragma once

#include "cpt/losses.h"
#include "model/learner.h"

namespace cpt {

// Counts one seen example: p = P(its label | x) before it is learned. Every 16th of `losses` also has its Brier score
// estimated, and every 64th its best label searched: both cost more than learning.
void count_seen(const Learner& learner, const ExampleView& x, LabelId label, double p, Losses& losses);

}  // namespace cpt
