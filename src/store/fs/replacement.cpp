#include "store/fs/replacement.h"

#include <fcntl.h>

#include <chrono>
#include <system_error>
#include <thread>

#include "store/fs/durable_file.h"
#include "store/fs/unfinished.h"

namespace cpt {

namespace fs = std::filesystem;

FileDescriptor open_directory(const fs::path& path) {
  return FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

bool was_replaced(const FileDescriptor& opened, const fs::path& path) {
  constexpr std::chrono::milliseconds kPause(1);
  constexpr int kMostPauses = 1000;
  std::error_code unknown;
  for (int pauses = 0; !fs::exists(path, unknown); ++pauses) {
    // The new one may have come since, and the old one gone.
    if (find_set_aside(path).empty() && !fs::exists(path, unknown)) return false;
    if (pauses == kMostPauses) return false;
    std::this_thread::sleep_for(kPause);
  }
  return !has_name(opened, path);
}

}  // namespace cpt
