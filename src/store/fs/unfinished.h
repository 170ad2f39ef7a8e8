// Output under a temporary name (see durable_file.h) that is not complete yet. Its writer holds a lock on it, which
// ends with the process, however it ends. Output that nobody holds was left by killed processes, and is swept away.
#pragma once

#include <filesystem>

#include "core/file_descriptor.h"

namespace cpt {

// Whether a file or directory, if it could be opened, still has this name. Throws Error(kNoInput) if the system cannot
// tell.
bool has_name(const FileDescriptor& file, const std::filesystem::path& path);

// Protects a new file or directory of this name from sweep_unfinished() in other processes, until every copy of the
// descriptor is closed. A directory on NFS is protected only from processes on this machine. If the file system has no
// locks, other processes cannot lock it either, and leave it alone. Returns false if it was swept before it was locked:
// create it again.
[[nodiscard]] bool hold_unfinished(const FileDescriptor& file, const std::filesystem::path& name);

// Removes every "PATH.tmp-NUMBER", of any process, that nobody holds. What cannot be removed stays, without an error.
void sweep_unfinished(const std::filesystem::path& path);
// The same, and what a publish_directory() has renamed aside. For the only writer of `path`.
void sweep_replacements(const std::filesystem::path& path);

}  // namespace cpt
