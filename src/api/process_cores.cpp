#include "api/process_cores.h"

#include <sys/sysinfo.h>

#include <algorithm>

namespace cpt {

cpu_set_t affinity_of_process() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_ZERO(&allowed);
  return allowed;
}

int cores_of_process() {
  const cpu_set_t allowed = affinity_of_process();
  return std::max(1, CPU_COUNT(&allowed) > 0 ? CPU_COUNT(&allowed) : get_nprocs());
}

}  // namespace cpt
