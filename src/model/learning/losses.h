// Counting what a prediction was worth, before the example is learned.
#pragma once

#include "cpt/losses.h"
#include "model/learning/learner.h"

namespace cpt {

// Of the examples of a phase, counted from 1, which ones have their Brier score estimated and their best label searched
// (one of a sync interval), if their label was in the tree. Both cost more than learning, so intervals grow. Draws: 16
// examples up to 2^21, then 2^16 intervals between a power of two and the next. Searches: 64 examples up to 2^13, then
// 64 intervals between a power of two and the next, and from 2^16 on by the root of the number of examples. Which
// example of a sync interval it is, is drawn, the same in every run.
bool brier_due(std::uint64_t number);
bool top1_due(std::uint64_t number);
// What such an example counts for: its importance, times the sync interval; for the Brier score in units of the first
// one.
double brier_weight(double importance, std::uint64_t number);
double top1_weight(double importance, std::uint64_t number);
// The coins of the draw for the Brier score.
std::uint64_t draw_seed(const ModelOptions& options, std::uint64_t number);

// Counts one seen example: p = P(its label | x) before it is learned. Its number is that of `losses`.
void count_seen(const Learner& learner, const ExampleView& x, LabelId label, double p, Losses& losses);

}  // namespace cpt
