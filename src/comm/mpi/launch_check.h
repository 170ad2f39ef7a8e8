// Whether a launcher started this process, and whether MPI agrees with the launcher.
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace cpt {

// The value of an environment variable, or nullptr.
using EnvironmentLookup = std::function<const char*(const char* name)>;

// Whether the environment shows that mpirun or the launcher of a batch system started this process. If not, the process
// is alone and does not need MPI.
bool was_launched(const EnvironmentLookup& environment = [](const char* name) { return std::getenv(name); });

// A launcher of another MPI than that of the program starts N tasks, and each of them seems to be alone: N jobs of one
// rank that would overwrite one another. Returns a message that states the evidence and the remedy, nullopt if all is
// well. The tasks of the job step count, not those of the allocation: a batch script may start one rank in an
// allocation of many.
std::optional<std::string> launcher_mismatch(
    int mpi_size, const EnvironmentLookup& environment = [](const char* name) { return std::getenv(name); });

}  // namespace cpt
