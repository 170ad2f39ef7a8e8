// What all ranks have sent one another.
#pragma once

#include "comm/communicator.h"
#include "cpt/traffic.h"

namespace cpt {

// The traffic of all ranks up to now: sums of waits and bytes, and means of seconds. All ranks call it.
TrafficByCall traffic_of_all(Communicator& comm);

}  // namespace cpt
