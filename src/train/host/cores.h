// How many cores a rank may use beside the other ranks of its machine.
#pragma once

#include "comm/communicator.h"

namespace cpt {

// The cores_of_process() of a rank beside others, but no more than its share of the machine: ranks that are not bound
// may run on all cores. At least 1 and at most 4: more gain nothing where one thread brings the work.
int cores_of_rank(const Communicator& comm);

// How many ranks of a machine there are for each processor that any of them may run on, by their affinity masks,
// rounded up; of the machine where they are most. At least 1. Collective, and the same on all ranks.
int ranks_per_core(Communicator& comm);

}  // namespace cpt
