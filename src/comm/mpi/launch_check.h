// How was the job started, and is it as its user meant it?
#pragma once

#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

namespace cpt {

// The value of an environment variable, or nullptr.
using EnvironmentLookup = std::function<const char*(const char* name)>;

// Whether there is a sign that a launcher started this process: mpirun, or that of a batch system. If not, the process
// is alone, and MPI has nothing to do.
bool was_launched(const EnvironmentLookup& environment = [](const char* name) { return std::getenv(name); });

// A launcher of another MPI than the program's starts N tasks, each of which believes to be alone: N jobs of one rank
// that would overwrite one another. Returns what was seen and what to do about it, nothing if all is well. Tasks of the
// job step count, not those of the allocation: a batch script may well start one rank in an allocation of many.
std::optional<std::string> launcher_mismatch(
    int mpi_size, const EnvironmentLookup& environment = [](const char* name) { return std::getenv(name); });

}  // namespace cpt
