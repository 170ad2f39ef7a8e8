// Whether what was read is a state that a run can be in.
#pragma once

#include <string>

#include "api/checkpoint/run_state.h"

namespace cpt {

// Whether the cursors of the shard_pass under way say that as many examples were read as were learned (C6). The numbers
// of its shards must be in range.
bool counts_agree(const RunState& state);

// Throws Error(kBadData), which begins with `name`, unless the options are in their ranges, the shards are files or
// parts of them, the shard_pass under way is one of the shards, and counts_agree().
void check_run_state(const RunState& state, const std::string& name);

}  // namespace cpt
