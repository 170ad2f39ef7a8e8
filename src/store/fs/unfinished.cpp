#include "store/fs/unfinished.h"

#include <fcntl.h>
#include <sys/file.h>

#include <system_error>
#include <vector>

#include "cpt/error.h"
#include "store/fs/durable_file.h"
#include "store/fs/file_lock.h"

namespace cpt {

namespace fs = std::filesystem;

bool hold_unfinished(const FileDescriptor& file, const fs::path& name) {
  ::flock(file.get(), LOCK_EX | LOCK_NB);
  return has_name(file, name);
}

std::vector<fs::path> find_unfinished(const fs::path& path) {
  // PATH may end with a slash.
  const fs::path name = temporary_name(path).stem();
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator entry(directory_of(path), failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry->path().stem() == name && is_temporary_name(entry->path())) found.push_back(entry->path());
  }
  return found;
}

void sweep_unfinished(const fs::path& path) {
  std::error_code failure;
  for (const fs::path& unfinished : find_unfinished(path)) {
    try {
      const int flags = fs::is_directory(fs::symlink_status(unfinished, failure)) ? O_RDONLY : O_RDWR | O_NONBLOCK;
      const FileDescriptor mine = lock_if_free(unfinished, flags | O_NOFOLLOW);
      if (mine.get() != -1) fs::remove_all(unfinished, failure);
    } catch (const Error&) {  // gone, or another's
    }
  }
}

}  // namespace cpt
