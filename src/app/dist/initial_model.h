// What --init asks of the other options.
#pragma once

#include "app/dist/options/dist_options.h"

namespace cpt {

// The options of the model that --init names, if it names one, take the place of the defaults. Throws Error(kUsage) if
// one that was given has another value in the model, or if the model lies where this run writes its own;
// Error(kNoInput) or Error(kBadData) if the options of the model cannot be read.
void take_model_options(DistOptions& options);

}  // namespace cpt
