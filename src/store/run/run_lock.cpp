#include "store/run/run_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>

#include "cpt/error.h"
#include "store/fs/file_lock.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

std::string host_and_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return "unknown " + std::to_string(::getpid());
  return std::string(host.data()) + ' ' + std::to_string(::getpid());
}

// "process 17 on host a", from what the holder of a lock wrote into it. It may be about to do so.
std::string describe_holder(int lock) {
  std::array<char, 300> text{};
  const ssize_t length = ::pread(lock, text.data(), text.size(), 0);
  const std::string_view line(text.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
  const std::size_t space = line.find(' ');
  if (space == std::string_view::npos) return "another process";
  const std::string_view process = line.substr(space + 1, line.find('\n') - space - 1);
  return "process " + std::string(process) + " on host " + std::string(line.substr(0, space));
}

}  // namespace

RunLock::RunLock(const fs::path& directory) : directory_(directory), path_(directory / "lock") {
  do {
    lock();
  } while (!has_name(file_, path_));  // who held it has removed it
  const std::string text = host_and_process() + '\n';
  if (::ftruncate(file_.get(), 0) != 0 || ::pwrite(file_.get(), text.data(), text.size(), 0) < 0) {
    throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("write", errno));
  }
}

RunLock::~RunLock() {
  std::error_code ignored;
  if (is_first_ && !has_begun_) fs::remove(path_, ignored);
}

void RunLock::lock() {
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC;
  file_ = FileDescriptor(::open(path_.c_str(), kFlags | O_EXCL, 0666));
  is_first_ = file_.get() != -1;
  if (!is_first_ && errno == EEXIST) file_ = FileDescriptor(::open(path_.c_str(), kFlags, 0666));
  if (file_.get() == -1) throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("open", errno));
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno != EWOULDBLOCK) {
    throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("flock", errno) +
                                         "; a run directory must lie on a file system with locks: mount it with "
                                         "them, or choose another run directory");
  }
  throw Error(Fault::kCannotWrite, directory_.string() + ": in use by " + describe_holder(file_.get()) +
                                       "; wait for it or choose another run directory");
}

}  // namespace cpt
