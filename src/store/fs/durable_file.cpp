#include "store/fs/durable_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>  // renameat2
#include <random>
#include <string>
#include <string_view>
#include <system_error>

#include "cpt/error.h"
#include "cpt/hashing.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

// Linux moves at most 2^31 - 4096 bytes per call, other systems fail above 2^31; far below it nothing is lost.
constexpr std::size_t kMaxBytesPerCall = std::size_t{1} << 30;
constexpr std::string_view kTemporaryMark = ".tmp-";

[[noreturn]] void fail(Fault fault, const fs::path& path, const std::string& action, int error_number) {
  throw Error(fault, path.string() + ": " + describe_errno(action, error_number));
}

// Repeats a system call that a signal interrupted.
template <typename Call>
auto retry(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

FileDescriptor open_for_writing(const fs::path& path) {
  FileDescriptor file(retry([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); }));
  if (file.get() == -1) fail_writing(path, "open");
  return file;
}

// Looks before it opens, since opening a pipe waits for a writer. O_NONBLOCK would not wait, but it would fail where a
// lease on the file is about to end.
FileDescriptor open_for_reading(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    throw Error(Fault::kNoInput, path.string() + ": is not a regular file");
  }
  FileDescriptor file(retry([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (file.get() == -1) fail(Fault::kNoInput, path, "open", errno);
  return file;
}

void rename_path(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) fail_writing(from, "rename to " + to.string());
}

// Gives two names to each other's files or directories, in one step. False, and nothing is done, if that fails, as
// on file systems that cannot do it.
bool exchange_names(const fs::path& one, const fs::path& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

bool name_exists(const fs::path& path) { return type_of(path, Links::kKeep) != fs::file_type::not_found; }

// "a/b" for "a/b/": both name the same directory, but only one has the name at its end.
fs::path without_trailing_slash(const fs::path& path) {
  return path.has_filename() || !path.has_relative_path() ? path : path.parent_path();
}

}  // namespace

void fail_writing(const fs::path& path, const std::string& action, int error_number) {
  fail(Fault::kCannotWrite, path, action, error_number);
}

OutputFile::OutputFile(fs::path path) : path_(std::move(path)), file_(open_for_writing(path_)) {}

void OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::size_t count = std::min(bytes.size(), kMaxBytesPerCall);
    const ssize_t written = retry([&] { return ::write(file_.get(), bytes.data(), count); });
    if (written < 0) fail_writing(path_, "write");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void OutputFile::sync() {
  if (retry([&] { return ::fsync(file_.get()); }) != 0) fail_writing(path_, "fsync");
}

void OutputFile::close() {
  // Not repeated after a signal: the descriptor is closed even then, and another thread may already have its number.
  if (::close(file_.release()) != 0 && errno != EINTR) fail_writing(path_, "close");
}

InputFile::InputFile(fs::path path) : path_(std::move(path)), file_(open_for_reading(path_)) {}

std::uint64_t InputFile::size() const {
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) fail(Fault::kNoInput, path_, "stat", errno);
  return static_cast<std::uint64_t>(status.st_size);
}

std::size_t InputFile::read_at(std::uint64_t offset, std::span<std::byte> out) const {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const std::size_t count = std::min(out.size() - filled, kMaxBytesPerCall);
    const auto position = static_cast<off_t>(offset + filled);
    const ssize_t got = retry([&] { return ::pread(file_.get(), out.data() + filled, count, position); });
    if (got < 0) fail(Fault::kNoInput, path_, "read", errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

void InputFile::expect_sequential_reads() const { ::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_SEQUENTIAL); }

std::vector<std::byte> read_file(const fs::path& path, std::uint64_t max_bytes) {
  const InputFile file(path);
  const std::uint64_t size = file.size();
  if (size > max_bytes) {
    throw Error(Fault::kBadData, path.string() + ": holds " + std::to_string(size) + " bytes, at most " +
                                     std::to_string(max_bytes) + " were expected");
  }
  std::vector<std::byte> bytes(size);
  bytes.resize(file.read_at(0, bytes));
  return bytes;
}

void write_file_atomically(const fs::path& path, std::span<const std::byte> bytes) {
  const fs::path temporary = temporary_name(path);
  try {
    OutputFile file(temporary);
    file.write(bytes);
    // Before the rename: otherwise a power failure can leave the final name on a file of zeros.
    file.sync();
    file.close();
    rename_path(temporary, path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  sync_directory(directory_of(path));
}

void create_directory_durably(const fs::path& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) return;
  // Another process may have created it first; anything else of this name is an error.
  const bool made = ::mkdir(path.c_str(), 0777) == 0;
  const int reason = errno;
  if (!made && !fs::is_directory(path, unknown)) fail_writing(path, "mkdir", reason);
  sync_directory(directory_of(path));
}

void create_directories_durably(const fs::path& path) {
  std::error_code unknown;
  if (fs::is_directory(path, unknown)) return;
  const fs::path parent = directory_of(path);
  if (parent != path) create_directories_durably(parent);
  create_directory_durably(path);
}

void sync_directory(const fs::path& path) {
  FileDescriptor directory(retry([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (directory.get() == -1) fail_writing(path, "open");
  if (retry([&] { return ::fsync(directory.get()); }) != 0) fail_writing(path, "fsync");
}

void publish_directory(const fs::path& from, const fs::path& to) {
  const bool replaces = name_exists(to);
  std::error_code ignored;
  if (replaces && exchange_names(from, to)) {
    try {
      sync_directory(directory_of(to));
    } catch (...) {
      exchange_names(from, to);
      throw;
    }
    // The new one is in place, so it is no error if some of the old one remains.
    fs::remove_all(from, ignored);
    return;
  }
  const fs::path aside = temporary_name(without_trailing_slash(to).string() + ".old");
  remove_durably(aside);  // left by a killed process that had the same number
  if (replaces) rename_path(to, aside);
  try {
    rename_path(from, to);
    sync_directory(directory_of(to));
  } catch (...) {
    ::rename(to.c_str(), from.c_str());
    if (replaces) ::rename(aside.c_str(), to.c_str());
    throw;
  }
  if (replaces) fs::remove_all(aside, ignored);
}

void publish_new_directory(const fs::path& from, const fs::path& to) {
  rename_path(from, to);  // rename replaces a directory only if it is empty
  sync_directory(directory_of(to));
}

fs::path find_set_aside(const fs::path& path) {
  const std::string aside = without_trailing_slash(path).filename().string() + ".old";
  std::error_code error;
  for (fs::directory_iterator entry(directory_of(path), error), end; !error && entry != end; entry.increment(error)) {
    if (is_temporary_name(entry->path()) && entry->path().stem() == aside) return entry->path();
  }
  return {};
}

void restore_directory(const fs::path& path) {
  if (name_exists(path)) return;
  const fs::path aside = find_set_aside(path);
  if (aside.empty()) return;
  rename_path(aside, path);
  sync_directory(directory_of(path));
}

fs::file_type type_of(const fs::path& path, Links links) {
  std::error_code error;
  const fs::file_status status = links == Links::kKeep ? fs::symlink_status(path, error) : fs::status(path, error);
  if (status.type() == fs::file_type::none) fail(Fault::kNoInput, path, "stat", error.value());
  return status.type();
}

bool link_file(const fs::path& from, const fs::path& to) { return ::link(from.c_str(), to.c_str()) == 0; }

void remove_durably(const fs::path& path) {
  if (!name_exists(path)) return;
  const fs::path doomed = is_temporary_name(path) ? path : temporary_name(path);
  std::error_code error;
  if (doomed != path) {
    fs::remove_all(doomed, error);
    rename_path(path, doomed);
    // Before anything in it goes: otherwise a power failure can leave the old name on half of its files (C1).
    sync_directory(directory_of(path));
  }
  fs::remove_all(doomed, error);
  if (error) fail_writing(doomed, "remove", error.value());
  sync_directory(directory_of(path));
}

fs::path temporary_name(const fs::path& path) {
  constexpr std::size_t kDigits = 10;  // fixed, so that names that ranks send have the same length in every run
  constexpr std::uint64_t kNumbers = 10'000'000'000;
  // The random number tells apart equal process numbers in different containers; the process number, forked processes.
  static const std::uint64_t chance = std::random_device()();
  const std::string number = std::to_string(mix((chance << 32) + static_cast<std::uint64_t>(::getpid())) % kNumbers);
  const std::string zeros(kDigits - number.size(), '0');
  return without_trailing_slash(path).string() + std::string(kTemporaryMark) + zeros + number;
}

bool is_temporary_name(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::size_t mark = name.rfind(kTemporaryMark);
  if (mark == std::string::npos || mark == 0) return false;
  const std::string number = name.substr(mark + kTemporaryMark.size());
  return !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
}

fs::path directory_of(const fs::path& path) {
  const fs::path parent = without_trailing_slash(path).parent_path();
  return parent.empty() ? fs::path(".") : parent;
}

}  // namespace cpt
