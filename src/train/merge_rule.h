// How the changes that several ranks made to one line become one.
#pragma once

#include <span>

#include "cpt/trainer.h"
#include "model/weight_table.h"

namespace cpt {

// What one rank did to a line: its content now.
using LineOfRank = const Line*;

// The merged line, from the content at the last merge and now on the ranks that touched it, in rank order (at least
// one). ranks: of the job. unit: mean growth of lane 0 per update of a line in this epoch, > 0; only kContraction uses
// it. Weights that only one rank changed are taken as they are (not by kAverage, which is what is wrong with it). Where
// no rank's lane 0 grew, all changes count alike.
Line merge_line(MergeRule rule, const Line& before, std::span<const LineOfRank> now, int ranks, double unit);

// Whether all lanes are finite.
bool is_finite(const Line& line);

}  // namespace cpt
