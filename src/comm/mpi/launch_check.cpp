#include "comm/mpi/launch_check.h"

#include <algorithm>
#include <array>

#include "core/number_text.h"

namespace cpt {
namespace {

// Open MPI's mpirun, MPICH's and Intel's mpiexec, Slurm's srun.
constexpr std::array kTaskCounts{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

// Variables that Open MPI's mpirun, launchers by PMIx, PMI-2 and PMI-1, and those of Cray set for every rank.
constexpr std::array kSignsOfLaunchers{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",  "PMI_RANK", "PMI_FD", "PMI_PORT",
                                       "PALS_RANKID",          "ALPS_APP_PE"};

// Whether a variable states more tasks than one. A variable that means something else must not refuse a job.
bool states_many(const char* value) { return value != nullptr && parse_all<int>(value).value_or(0) > 1; }

}  // namespace

// A launcher of many tasks may start MPI by other means than these variables.
bool was_launched(const EnvironmentLookup& environment) {
  const auto is_set = [&](const char* name) { return environment(name) != nullptr; };
  const auto counts_many = [&](const char* name) { return states_many(environment(name)); };
  return std::ranges::any_of(kSignsOfLaunchers, is_set) || std::ranges::any_of(kTaskCounts, counts_many);
}

std::optional<std::string> launcher_mismatch(int mpi_size, const EnvironmentLookup& environment) {
  if (mpi_size != 1) return std::nullopt;
  for (const char* name : kTaskCounts) {
    const char* value = environment(name);
    if (!states_many(value)) continue;
    return "the launcher started " + std::string(value) + " tasks (" + name + "=" + value +
           ") but MPI sees only this one; start the job with the mpirun of the MPI named by --version, " +
           "or under Slurm with an srun --mpi=... that this MPI supports";
  }
  return std::nullopt;
}

}  // namespace cpt
