// Locks on files and directories by which processes know what others are at work on. A lock ends with its process,
// however that ends.
#pragma once

#include <filesystem>

#include "core/file_descriptor.h"

namespace cpt {

// Opens `path` with these flags of open(2) and locks it until the descriptor is closed; a descriptor of -1 if another
// process has it locked, or has just renamed or removed it. Only who has the lock may rename it, remove it or write to
// it. Every failure is an Error(kCannotWrite).
FileDescriptor lock_if_free(const std::filesystem::path& path, int flags);

// Whether an open file or directory still has this name.
bool has_name(const FileDescriptor& file, const std::filesystem::path& path);

}  // namespace cpt
