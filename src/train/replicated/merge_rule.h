// How the changes that several ranks made to one row become one.
#pragma once

#include <span>

#include "cpt/trainer.h"
#include "model/weights/weight_table.h"

namespace cpt {

// What one rank did to a row: its content now.
using RowOfRank = const Row*;

// The merged row, from the content at the last merge and now on the ranks that touched it, in rank order (at least
// one). ranks: of the job. unit: mean growth of lane 0 per update of a row in this sync interval, > 0; only
// kContraction uses it. Weights that only one rank changed are taken as they are (not by kAverage, which is what is
// wrong with it). Where no rank's lane 0 grew, all changes count alike.
Row merge_row(MergeRule rule, const Row& before, std::span<const RowOfRank> now, int ranks, double unit);

// Whether all lanes are finite.
bool is_finite(const Row& row);

}  // namespace cpt
