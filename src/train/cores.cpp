#include "train/cores.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>

#include "train/memory.h"

namespace cpt {

namespace {
constexpr int kMostCores = 4;
}  // namespace

int cores_of_process() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return std::max(1, get_nprocs());
}

int cores_of_rank(const Communicator& comm) {
  const int share = get_nprocs() / ranks_on_this_host(comm);
  return std::clamp(std::min(cores_of_process(), share), 1, kMostCores);
}

}  // namespace cpt
