// One pass on one rank: Algorithm 2 as it stands in the paper. A round is one example.
#pragma once

#include <cstdint>

#include "cpt/trainer.h"
#include "model/in_order.h"
#include "train/feed.h"
#include "train/pauses.h"
#include "train/progress.h"

namespace cpt {

// Returns the number of bad lines skipped. Throws what the reader throws, and Error(kFailed) if the weights diverge.
std::uint64_t run_alone(const TrainingOptions& options, bool learning, InOrder& in_order, Feed& feed,
                        Progress& progress, Pauses& pauses);

}  // namespace cpt
