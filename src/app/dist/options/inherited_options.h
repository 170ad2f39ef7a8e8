// Options that a run inherits from the checkpoint that --resume continues, or from the model of --init.
#pragma once

#include "app/dist/options/dist_options.h"

namespace cpt {

// Takes the options that were not given from the newest checkpoint whose state can be read; if there is none, options
// stay unchanged. Returns whether there are checkpoints to resume. Throws Error(kUsage), with both values, if a given
// option differs from the run's and may not change.
bool take_run_options(DistOptions& options);

// Takes the model options that were not given from the model of --init, if there is one. Throws Error(kUsage) if a
// given one differs from the model's, or if the model is in the directory that this run writes; Error(kNoInput) or
// Error(kBadData) if the options of the model cannot be read.
void take_model_options(DistOptions& options);

}  // namespace cpt
