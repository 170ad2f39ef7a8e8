// One pass on one rank: Algorithm 2 as it stands in the paper. A round is one example.
#pragma once

#include <cstdint>

#include "cpt/trainer.h"
#include "model/learning/in_order.h"
#include "train/checkpoint/safe_point.h"
#include "train/input/batch_reader.h"
#include "train/progress/progress.h"
#include "train/progress/renewals.h"

namespace cpt {

// Returns the number of bad lines skipped, at the end of the input or where a validation is due. Throws what the reader
// throws, and Error(kFailed) if the weights diverge.
std::uint64_t run_alone(const TrainingOptions& options, bool learning, InOrder& in_order, BatchReader& reader,
                        Progress& progress, Renewals& renewals, SafePoint& safe_point);

}  // namespace cpt
