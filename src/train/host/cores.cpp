#include "train/host/cores.h"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "api/process_cores.h"
#include "comm/collectives.h"
#include "train/host/memory.h"

namespace cpt {

namespace {

constexpr int kMostCores = 4;

}  // namespace

int cores_of_rank(const Communicator& comm) {
  const int share = get_nprocs() / ranks_on_this_host(comm);
  return std::clamp(std::min(cores_of_process(), share), 1, kMostCores);
}

int ranks_per_core(Communicator& comm) {
  struct Machine {
    cpu_set_t cores{};
    int ranks = 0;
  };
  const std::vector<cpu_set_t> masks = all_gather_value(comm, affinity_of_process(), "pass: cores");
  std::map<std::string, Machine> machines;
  for (int rank = 0; rank < comm.size(); ++rank) {
    const cpu_set_t& mask = masks[static_cast<std::size_t>(rank)];
    if (CPU_COUNT(&mask) == 0) continue;
    Machine& machine = machines[comm.host_of(rank)];
    CPU_OR(&machine.cores, &machine.cores, &mask);
    ++machine.ranks;
  }
  int most = 1;
  for (const auto& [host, machine] : machines) {
    const int cores = CPU_COUNT(&machine.cores);
    most = std::max(most, (machine.ranks + cores - 1) / cores);
  }
  return most;
}

}  // namespace cpt
