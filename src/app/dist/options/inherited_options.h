// Options that a run takes from what it starts with: the checkpoint that --resume continues, or the model of --init.
#pragma once

#include "app/dist/options/dist_options.h"

namespace cpt {

// Returns whether there are checkpoints to resume. Options that were not given are taken from the newest checkpoint
// whose state can be read; if none can be read, options stay as they are. Throws Error(kUsage), with both values, if a
// given option differs from the run's and may not change.
bool take_run_options(DistOptions& options);

// Options of the model that were not given are taken from the model of --init, if there is one. Throws Error(kUsage) if
// a given one differs from the model's, or if the model lies where this run writes its own; Error(kNoInput) or
// Error(kBadData) if the options of the model cannot be read.
void take_model_options(DistOptions& options);

}  // namespace cpt
