// What `cpt_dist --dry-run` prints.
#pragma once

#include <filesystem>
#include <string>

#include "train/setup/run_plan.h"

namespace cpt {

// Several lines, each with its line end. `run`: the run directory.
std::string plan_text(const RunPlan& plan, const std::filesystem::path& run);

}  // namespace cpt
