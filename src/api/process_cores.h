// How many threads this process may keep busy.
#pragma once

#include <sched.h>

namespace cpt {

// The processors that this process may run on; empty where the machine has more than the mask holds.
cpu_set_t affinity_of_process();

// How many processors its affinity mask has; all of the machine where the mask is too large to be asked for. At
// least 1.
int cores_of_process();

}  // namespace cpt
