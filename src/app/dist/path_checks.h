// Paths that cannot be meant, told before anything is read or written there.
#pragma once

#include <filesystem>

#include "app/dist/options/dist_options.h"

namespace cpt {

// Throws Error(kUsage) where the run directory has no name, is a model or checkpoint, is or holds what patterns of
// shards find, or has no checkpoint for a --resume that brings no data either, and where what should be shards is a
// run, a model or a checkpoint; Error(kCannotWrite) where the run directory is a file. Makes nothing. For
// the one process that writes the run directory.
void require_usable_paths(const DistOptions& options);

}  // namespace cpt
