// The processors that this process may use.
#pragma once

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>

namespace cpt {

// The processors in the affinity mask of this process; empty if the machine has more processors than a mask holds.
inline cpu_set_t affinity_of_process() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_ZERO(&allowed);
  return allowed;
}

// The number of processors in that mask, at least 1; all of the machine if the mask cannot be read.
inline int cores_of_process() {
  const cpu_set_t allowed = affinity_of_process();
  return std::max(1, CPU_COUNT(&allowed) > 0 ? CPU_COUNT(&allowed) : get_nprocs());
}

}  // namespace cpt
