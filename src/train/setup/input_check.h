// A look at the input before a run begins: whether options and model fit it.
#pragma once

#include <vector>

#include "data/shards/shards.h"
#include "train/setup/run_setup.h"

namespace cpt {

// Looks at the first shard of each list, which may be empty, and adds warnings to the setup. Of a new model, it also
// sets the profile of the input. Only rank 0 calls it, because it warns and writes the model: the profile follows from
// the data alone, not from who reads what. Of a resumed run, pass the new shards.
void check_input(const std::vector<Shard>& data, const std::vector<Shard>& test, const std::vector<Shard>& validation,
                 RunSetup& setup);

}  // namespace cpt
