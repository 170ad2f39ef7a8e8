// How many threads a rank may keep busy beside other ranks.
#pragma once

#include "comm/communicator.h"

namespace cpt {

// The cores that this process may run on, but no more than its share of those of the machine: ranks that are not bound
// may run on all of them. At least 1 and at most 4: more gain nothing where one thread brings the work.
int cores_of_rank(const Communicator& comm);

}  // namespace cpt
