#include "comm/mpi/launch_check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace cpt {
namespace {

// Open MPI's mpirun, MPICH's and Intel's mpiexec, Slurm's srun.
constexpr std::array kTaskCounts{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};

// What Open MPI's mpirun, launchers by PMIx, PMI-2 and PMI-1, and those of Cray leave to every rank.
constexpr std::array kSignsOfLaunchers{"OMPI_COMM_WORLD_RANK", "PMIX_RANK",  "PMI_RANK", "PMI_FD", "PMI_PORT",
                                       "PALS_RANKID",          "ALPS_APP_PE"};

// 0 for what is not a number: a variable that means something else is no reason to refuse a job.
int parse_tasks(std::string_view text) {
  int tasks = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tasks);
  return error == std::errc{} && end == text.data() + text.size() ? tasks : 0;
}

}  // namespace

// A launcher of many tasks may know MPI in a way of its own.
bool was_launched(const EnvironmentLookup& environment) {
  const auto is_set = [&](const char* name) { return environment(name) != nullptr; };
  const auto tells_of_many = [&](const char* name) { return is_set(name) && parse_tasks(environment(name)) > 1; };
  return std::ranges::any_of(kSignsOfLaunchers, is_set) || std::ranges::any_of(kTaskCounts, tells_of_many);
}

std::optional<std::string> launcher_mismatch(int mpi_size, const EnvironmentLookup& environment) {
  if (mpi_size != 1) return std::nullopt;
  for (const char* name : kTaskCounts) {
    const char* value = environment(name);
    if (value == nullptr || parse_tasks(value) <= 1) continue;
    return "the launcher started " + std::string(value) + " tasks (" + name + "=" + value +
           ") but MPI sees only this one; start the job with the mpirun of the MPI named by --version, " +
           "or under Slurm with an srun --mpi=... that this MPI supports";
  }
  return std::nullopt;
}

}  // namespace cpt
