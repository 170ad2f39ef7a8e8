// What is written under a temporary name (durable_file.h) until it is whole: those who write it hold it, and what
// killed processes have left of it is swept away.
#pragma once

#include <filesystem>

#include "core/file_descriptor.h"

namespace cpt {

// Keeps sweep_unfinished() of other processes from a file or directory until every copy of the descriptor is closed. On
// a file system that does not lock it they cannot lock it either, and leave it alone.
void hold_unfinished(const FileDescriptor& file);

// Removes "PATH.tmp-PID", of whatever process, that nobody holds. Says nothing of what cannot be removed.
void sweep_unfinished(const std::filesystem::path& path);

}  // namespace cpt
