#include "store/pending_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cpt/error.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = ".part";

fs::path part_of(const fs::path& path) { return path.string() + kMark; }

[[noreturn]] void fail(const fs::path& path, const char* action, int error_number) {
  throw Error(Fault::kCannotWrite, path.string() + ": " + describe_errno(action, error_number));
}

// Between open() and flock() the one who had the lock may have published or removed the file.
bool has_name(const FileDescriptor& file, const fs::path& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

// A descriptor of -1 if another process has it. Only who has the lock may rename or remove the file, or write to it.
FileDescriptor lock(const fs::path& part, int flags) {
  FileDescriptor file(::open(part.c_str(), O_RDWR | O_CLOEXEC | flags, 0666));
  if (file.get() == -1) fail(part, "open", errno);
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) fail(part, "flock", errno);
    return FileDescriptor();
  }
  return has_name(file, part) ? std::move(file) : FileDescriptor();
}

}  // namespace

std::optional<PendingFile> PendingFile::begin(const fs::path& path) {
  FileDescriptor mine = lock(part_of(path), O_CREAT);
  if (mine.get() == -1) return std::nullopt;
  return PendingFile(path, std::move(mine));
}

PendingFile::PendingFile(fs::path path, FileDescriptor lock)
    : path_(std::move(path)), lock_(std::move(lock)), file_(part_of(path_)) {}

PendingFile::~PendingFile() {
  if (lock_.get() != -1) ::unlink(part_of(path_).c_str());
}

void PendingFile::publish() {
  file_.sync();  // before the rename, lest a power failure leave the name on a file of zeros
  file_.close();
  if (::rename(part_of(path_).c_str(), path_.c_str()) != 0) fail(path_, "rename", errno);
  lock_ = FileDescriptor();
  sync_directory(directory_of(path_));
}

void sweep_pending_files(const fs::path& directory, const std::function<bool(const fs::path& name)>& is_ours) {
  std::vector<fs::path> parts;
  std::error_code failure;
  for (fs::directory_iterator entry(directory, failure), end; !failure && entry != end; entry.increment(failure)) {
    if (entry->path().extension() == kMark && is_ours(entry->path().stem())) parts.push_back(entry->path());
  }
  for (const fs::path& part : parts) {
    try {
      const FileDescriptor mine = lock(part, 0);
      if (mine.get() != -1) ::unlink(part.c_str());
    } catch (const Error&) {  // gone, or another's
    }
  }
}

}  // namespace cpt
