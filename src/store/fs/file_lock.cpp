#include "store/fs/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <utility>

#include "cpt/error.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, const char* action, int error_number) {
  throw Error(Fault::kCannotWrite, path.string() + ": " + describe_errno(action, error_number));
}

}  // namespace

bool has_name(const FileDescriptor& file, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

FileDescriptor lock_if_free(const fs::path& path, int flags) {
  FileDescriptor file(::open(path.c_str(), flags | O_CLOEXEC, 0666));
  if (file.get() == -1) fail(path, "open", errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail(path, "flock", errno);
    return FileDescriptor();
  }
  // Meanwhile the one who had the lock may have renamed or removed it.
  return has_name(file, path) ? std::move(file) : FileDescriptor();
}

}  // namespace cpt
