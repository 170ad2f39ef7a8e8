// What is written under a temporary name (durable_file.h) until it is whole: those who write it hold it, and what
// killed processes have left of it is swept away.
#pragma once

#include <filesystem>
#include <vector>

#include "core/file_descriptor.h"

namespace cpt {

// Keeps sweep_unfinished() of other processes from a file or directory of this name, just made, until every copy of the
// descriptor is closed; of processes on this machine only, for a directory on NFS. On a file system that does not lock
// it they cannot lock it either, and leave it alone. False: it was swept before it was held, so make it again.
[[nodiscard]] bool hold_unfinished(const FileDescriptor& file, const std::filesystem::path& name);

// "PATH.tmp-PID", of whatever process.
std::vector<std::filesystem::path> find_unfinished(const std::filesystem::path& path);
// Removes those of them that nobody holds. Says nothing of what cannot be removed.
void sweep_unfinished(const std::filesystem::path& path);

}  // namespace cpt
