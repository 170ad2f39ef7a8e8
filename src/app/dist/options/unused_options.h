// Options that were given and belong to something that the run does not do: most often a mistake that would otherwise
// go unseen.
#pragma once

#include <string>
#include <vector>

#include "app/dist/options/dist_options.h"

namespace cpt {

// A line each, not ended. Of options as the run takes them, those of a model or a run that it goes on from included.
std::vector<std::string> describe_unused(const DistOptions& options);

}  // namespace cpt
