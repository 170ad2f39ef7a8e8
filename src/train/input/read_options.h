// How a run reads its examples.
#pragma once

#include "cpt/trainer.h"
#include "data/format/read_options.h"

namespace cpt {

// The part of the options that says how lines become examples.
ReadOptions read_options(const TrainingOptions& options);

}  // namespace cpt
