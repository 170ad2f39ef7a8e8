#include "file_calls.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace cpt {
namespace {

namespace fs = std::filesystem;
using Kind = FileCall::Kind;

std::function<void(const FileCall&)>& watch() {
  static std::function<void(const FileCall&)> current;
  return current;
}

std::function<bool(const fs::path&)>& failing_syncs() {
  static std::function<bool(const fs::path&)> current;
  return current;
}

bool& exchanges_are_denied() {
  static bool denied = false;
  return denied;
}

bool& links_are_denied() {
  static bool denied = false;
  return denied;
}

// The watcher must change neither errno nor the calls that it sees.
void notify(const FileCall& call) {
  const int reason = errno;
  const auto current = std::exchange(watch(), nullptr);
  current(call);
  watch() = current;
  errno = reason;
}

fs::path path_of(int file) {
  std::error_code unknown;
  return fs::read_symlink("/proc/self/fd/" + std::to_string(file), unknown);
}

fs::path absolute(int directory, const char* path) {
  if (directory != AT_FDCWD && *path != '/') return path_of(directory) / path;
  std::error_code unknown;
  return fs::absolute(path, unknown);
}

template <typename Result>
Result reported(Result result, const std::function<FileCall()>& call) {
  if (result >= 0 && watch()) notify(call());
  return result;
}

int open_at(int directory, const char* path, int flags, mode_t mode) {
  struct stat status {};
  const int reason = errno;
  const bool exists = ::fstatat(directory, path, &status, 0) == 0;
  errno = reason;
  const int file = static_cast<int>(::syscall(SYS_openat, directory, path, flags, mode));
  const bool changes = (flags & O_TRUNC) != 0 || ((flags & O_CREAT) != 0 && !exists);
  return changes ? reported(file, [&] { return FileCall{Kind::kCreate, absolute(directory, path), {}, 0, {}}; }) : file;
}

FileCall written(int file, const void* bytes, ssize_t size, off_t offset) {
  const std::span all(static_cast<const std::byte*>(bytes), static_cast<std::size_t>(size));
  return {Kind::kWrite, path_of(file), {}, static_cast<std::size_t>(offset), {all.begin(), all.end()}};
}

int remove_at(int directory, const char* path, int flags) {
  const fs::path whole = watch() ? absolute(directory, path) : fs::path();
  return reported(static_cast<int>(::syscall(SYS_unlinkat, directory, path, flags)), [&] {
    return FileCall{Kind::kRemove, whole, {}, 0, {}};
  });
}

// The mode that follows the flags of an open(), if one does.
mode_t mode_after(int flags, va_list arguments) {
  return (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

FileCallWatcher::FileCallWatcher(std::function<void(const FileCall&)> watch_) { watch() = std::move(watch_); }
FileCallWatcher::~FileCallWatcher() { watch() = nullptr; }

FailingSyncs::FailingSyncs(std::function<bool(const fs::path&)> fails) { failing_syncs() = std::move(fails); }
FailingSyncs::~FailingSyncs() { failing_syncs() = nullptr; }

NoExchanges::NoExchanges() { exchanges_are_denied() = true; }
NoExchanges::~NoExchanges() { exchanges_are_denied() = false; }

NoLinks::NoLinks() { links_are_denied() = true; }
NoLinks::~NoLinks() { links_are_denied() = false; }

}  // namespace cpt

extern "C" {

using cpt::FileCall;
using Kind = cpt::FileCall::Kind;

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = cpt::mode_after(flags, arguments);
  va_end(arguments);
  return cpt::open_at(AT_FDCWD, path, flags, mode);
}

int openat(int directory, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = cpt::mode_after(flags, arguments);
  va_end(arguments);
  return cpt::open_at(directory, path, flags, mode);
}

ssize_t write(int file, const void* bytes, std::size_t size) {
  const ssize_t count = ::syscall(SYS_write, file, bytes, size);
  return cpt::reported(count, [&] { return cpt::written(file, bytes, count, ::lseek(file, 0, SEEK_CUR) - count); });
}

ssize_t pwrite(int file, const void* bytes, std::size_t size, off_t offset) {
  const ssize_t count = ::syscall(SYS_pwrite64, file, bytes, size, offset);
  return cpt::reported(count, [&] { return cpt::written(file, bytes, count, offset); });
}

int ftruncate(int file, off_t length) noexcept {
  return cpt::reported(static_cast<int>(::syscall(SYS_ftruncate, file, length)), [&] {
    return FileCall{Kind::kCut, cpt::path_of(file), {}, static_cast<std::size_t>(length), {}};
  });
}

int fsync(int file) {
  if (cpt::failing_syncs() && cpt::failing_syncs()(cpt::path_of(file))) {
    errno = EIO;
    return -1;
  }
  return cpt::reported(static_cast<int>(::syscall(SYS_fsync, file)), [&] {
    return FileCall{Kind::kSync, cpt::path_of(file), {}, 0, {}};
  });
}

int fdatasync(int file) { return ::fsync(file); }

int rename(const char* from, const char* to) noexcept {
  const auto source = cpt::absolute(AT_FDCWD, from);
  return cpt::reported(static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0)), [&] {
    return FileCall{Kind::kRename, source, cpt::absolute(AT_FDCWD, to), 0, {}};
  });
}

int renameat2(int from_directory, const char* from, int to_directory, const char* to, unsigned flags) noexcept {
  const bool exchanges = (flags & RENAME_EXCHANGE) != 0;
  if (exchanges && cpt::exchanges_are_denied()) {
    errno = EINVAL;
    return -1;
  }
  const auto source = cpt::absolute(from_directory, from);
  const auto result = ::syscall(SYS_renameat2, from_directory, from, to_directory, to, flags);
  return cpt::reported(static_cast<int>(result), [&] {
    return FileCall{exchanges ? Kind::kExchange : Kind::kRename, source, cpt::absolute(to_directory, to), 0, {}};
  });
}

int link(const char* from, const char* to) noexcept {
  if (cpt::links_are_denied()) {
    errno = EPERM;
    return -1;
  }
  return cpt::reported(static_cast<int>(::syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0)), [&] {
    return FileCall{Kind::kLink, cpt::absolute(AT_FDCWD, from), cpt::absolute(AT_FDCWD, to), 0, {}};
  });
}

int mkdir(const char* path, mode_t mode) noexcept {
  return cpt::reported(static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode)), [&] {
    return FileCall{Kind::kMakeDirectory, cpt::absolute(AT_FDCWD, path), {}, 0, {}};
  });
}

int unlinkat(int directory, const char* path, int flags) noexcept { return cpt::remove_at(directory, path, flags); }
int unlink(const char* path) noexcept { return cpt::remove_at(AT_FDCWD, path, 0); }
int rmdir(const char* path) noexcept { return cpt::remove_at(AT_FDCWD, path, AT_REMOVEDIR); }

int remove(const char* path) noexcept {
  const int reason = errno;
  if (::unlink(path) == 0) return 0;
  if (errno != EISDIR && errno != EPERM) return -1;
  errno = reason;
  return ::rmdir(path);
}
}
