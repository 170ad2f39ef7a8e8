#include "store/fs/pending_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cpt/error.h"
#include "store/fs/file_lock.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMark = ".part";

fs::path part_of(const fs::path& path) { return path.string() + kMark; }

}  // namespace

std::optional<PendingFile> PendingFile::begin(const fs::path& path) {
  FileDescriptor mine = lock_if_free(part_of(path), O_RDWR | O_CREAT);
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
  if (::rename(part_of(path_).c_str(), path_.c_str()) != 0) {
    throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("rename", errno));
  }
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
      const FileDescriptor mine = lock_if_free(part, O_RDWR);
      if (mine.get() != -1) ::unlink(part.c_str());
    } catch (const Error&) {  // gone, or another's
    }
  }
}

}  // namespace cpt
