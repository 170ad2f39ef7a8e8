// The memory, the cores and the disks of the machine that a rank runs on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

#include "comm/communicator.h"
#include "cpt/trainer.h"

namespace cpt {

// The bytes of memory that are still free for this process and others on this machine: what the kernel calls available,
// or the limit of the process's control groups minus their use, whichever is less. Nothing if the system does not say.
// `root` holds the system's files, for tests.
std::optional<std::uint64_t> free_memory(const std::filesystem::path& root = "/");

// The peak resident memory of this process in bytes; 0 if the system does not say.
std::uint64_t peak_memory(const std::filesystem::path& root = "/");

struct FreeDisk {
  std::filesystem::path directory;  // the nearest one that exists
  std::uint64_t bytes = 0;          // that are free in its file system for this user
};

// The free disk space for a directory, which need not exist yet. Nothing if the system does not say.
std::optional<FreeDisk> free_disk(std::filesystem::path directory);

// The memory use of the rank with the highest peak. Collective; each rank passes that of its summary.
MemoryUse largest_memory(MemoryUse mine, Communicator& comm);

// The number of ranks on this rank's machine.
int ranks_on_this_host(const Communicator& comm);

// The number of threads that a rank may keep busy: cores_of_process(), but no more than its share of the machine,
// because unbound ranks may run on all cores. From 1 to 4: one thread feeds the others and cannot feed more.
int cores_of_rank(const Communicator& comm);

// The number of ranks per processor, rounded up, on the machine where it is highest, by the ranks' affinity masks. At
// least 1. Collective, and equal on all ranks.
int ranks_per_core(Communicator& comm);

}  // namespace cpt
