#include "store/fs/unfinished.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "cpt/error.h"
#include "store/fs/durable_file.h"

namespace cpt {

namespace fs = std::filesystem;

namespace {

bool lock(const FileDescriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

std::vector<fs::path> find_unfinished(const fs::path& path) {
  const fs::path name = temporary_name(path).stem();  // PATH may end with a slash
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator entry(directory_of(path), failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry->path().stem() == name && is_temporary_name(entry->path())) found.push_back(entry->path());
  }
  return found;
}

}  // namespace

bool has_name(const FileDescriptor& file, const fs::path& path) {
  if (file.get() == -1) return false;
  struct stat opened {};
  struct stat named {};
  const bool told = ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0;
  if (!told && errno != ENOENT && errno != ENOTDIR)
    throw Error(Fault::kNoInput, path.string() + ": " + describe_errno("stat", errno));
  return told && opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

bool hold_unfinished(const FileDescriptor& file, const fs::path& name) {
  lock(file);
  return has_name(file, name);
}

void sweep_unfinished(const fs::path& path) {
  std::error_code failure;
  for (const fs::path& unfinished : find_unfinished(path)) {
    const int flags = fs::is_directory(fs::symlink_status(unfinished, failure)) ? O_RDONLY : O_RDWR | O_NONBLOCK;
    const FileDescriptor file(::open(unfinished.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    if (file.get() == -1 || !lock(file)) continue;
    try {
      // The previous holder of the lock may have renamed or removed it.
      if (has_name(file, unfinished)) fs::remove_all(unfinished, failure);
    } catch (const Error&) {  // it stays
    }
  }
}

void sweep_replacements(const fs::path& path) {
  sweep_unfinished(path);
  const std::string name = temporary_name(path).stem();  // PATH may end with a slash
  sweep_unfinished(directory_of(path) / (name + ".old"));
}

}  // namespace cpt
