// What --resume asks of the other options, and of the files of the run directory.
#pragma once

#include <filesystem>

#include "app/dist/options/dist_options.h"
#include "train/training.h"

namespace cpt {

// Whether there are checkpoints to go on from. The options of the newest one whose state can be read take the place of
// those that were not given; where none can, they stay. Throws Error(kUsage), with both values, if one that was given
// was another when the run began, unless it may change.
bool take_run_options(DistOptions& options);

// Takes what came after the checkpoint out of metrics.jsonl: it will come again.
void cut_metrics(const std::filesystem::path& metrics, const Resumption& resumption);

// One line, not ended.
std::string resumption_text(const Resumption& resumption);

}  // namespace cpt
