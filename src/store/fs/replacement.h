// A directory that another process replaces by publish_directory() while this one reads it.
#pragma once

#include <cerrno>
#include <filesystem>

#include "core/file_descriptor.h"
#include "cpt/error.h"

namespace cpt {

// The directory that has this name now; -1, and errno, if it cannot be opened.
FileDescriptor open_directory(const std::filesystem::path& path);

// Whether the name belongs to another directory now than to the opened one. During a replacement it may be
// that no directory has the name: this waits for the new one, at most a second, because the replacing process may have
// been killed.
bool was_replaced(const FileDescriptor& opened, const std::filesystem::path& path);

// Returns read(), which reads a directory by its name. Calls it again if it threw an Error and the directory was
// replaced meanwhile, as often as that happens. Whatever read() returns must be verified to be of one directory.
template <class Read>
auto read_unreplaced(const std::filesystem::path& path, Read read) {
  while (true) {
    const FileDescriptor opened = open_directory(path);
    const bool cannot_open = opened.get() < 0 && errno != ENOENT;  // it is a file, or closed to this process
    try {
      return read();
    } catch (const Error&) {
      if (cannot_open || !was_replaced(opened, path)) throw;
    }
  }
}

}  // namespace cpt
