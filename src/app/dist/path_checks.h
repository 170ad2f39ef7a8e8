// Checks of the paths on the command line, before anything is read or written there.
#pragma once

#include "app/dist/options/dist_options.h"

namespace cpt {

// For rank 0; creates nothing. Throws Error(kUsage) if the run directory has no name, is a model or checkpoint, or
// would itself be read as shards, if the shards are a run, a model or a checkpoint, or if --resume comes without data
// and there is no checkpoint. Throws Error(kCannotWrite) if the run directory is a file, or if the run directory holds
// a finished run that neither --overwrite nor --resume allows to change.
void require_usable_paths(const DistOptions& options);

}  // namespace cpt
