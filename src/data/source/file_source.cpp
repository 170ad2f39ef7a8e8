#include "data/source/file_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "cpt/error.h"

namespace cpt {
namespace {

// The longest time until a stop is noticed while a pipe is silent.
constexpr int kPollMilliseconds = 50;

// Kept for the other files of the process: libraries, sockets and shared memory of MPI, logs, checkpoints.
constexpr rlim_t kReservedFiles = 128;

[[noreturn]] void fail(const std::string& path, const char* action, int error_number) {
  std::string reason = input_name(path) + ": " + describe_errno(action, error_number);
  if (error_number == EMFILE) reason += "; raise the limit with ulimit -n, or use fewer and larger shards";
  throw Error(Fault::kNoInput, reason);
}

}  // namespace

FileSource::FileSource(const std::string& path, SharedControl control, ByteRange counted,
                       std::optional<std::uint64_t> size)
    : path_(path), control_(std::move(control)), counted_(counted), size_(size) {
  // Non-blocking so that open() does not wait for the writer of a named pipe; files are not affected.
  descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) fail(path_, "open", errno);
  struct stat status {};
  int failure = ::fstat(descriptor_, &status) != 0 ? errno : 0;
  if (failure == 0 && S_ISDIR(status.st_mode)) failure = EISDIR;
  if (failure != 0) {
    if (path_ != "-") ::close(descriptor_);
    fail(path_, "read", failure);
  }
  may_block_ = !S_ISREG(status.st_mode);
  if (may_block_) size_.reset();
}

FileSource::~FileSource() {
  if (path_ != "-") ::close(descriptor_);
}

std::size_t FileSource::read(std::span<char> space) {
  while (!stopped()) {
    if (may_block_ && !wait_until_readable()) break;
    const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(space.size(), left()));
    const ssize_t count = most == 0 ? 0 : ::read(descriptor_, space.data(), most);
    if (count == 0) require_end();
    if (count >= 0) {
      move_on(static_cast<std::uint64_t>(count));
      return static_cast<std::size_t>(count);
    }
    if (errno != EINTR && errno != EAGAIN) fail(path_, "read", errno);
  }
  return 0;
}

std::uint64_t FileSource::skip(std::uint64_t most) {
  if (may_block_) return ByteSource::skip(most);
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) fail(path_, "read", errno);
  const off_t at = ::lseek(descriptor_, 0, SEEK_CUR);
  if (at < 0) fail(path_, "seek", errno);
  // Needed because a seek beyond the end of a file succeeds.
  const auto there = static_cast<std::uint64_t>(std::max<off_t>(status.st_size - at, 0));
  const std::uint64_t count = std::min({most, there, left()});
  if (count == 0) require_end();
  if (::lseek(descriptor_, static_cast<off_t>(count), SEEK_CUR) < 0) fail(path_, "seek", errno);
  move_on(count);
  return count;
}

// The file ends here: throws unless it had this size at the start.
void FileSource::require_end() const {
  if (!size_ || at_ == *size_) return;
  throw Error(Fault::kBadData, input_name(path_) + ": expected the " + std::to_string(*size_) +
                                   " bytes that it had at the start, found its end at byte " + std::to_string(at_) +
                                   ": it was truncated meanwhile");
}

void FileSource::move_on(std::uint64_t bytes) {
  const std::uint64_t begin = std::max(at_, counted_.begin);
  at_ += bytes;
  const std::uint64_t end = std::min(at_, counted_.end);
  if (!control_) return;
  if (begin < end) control_->bytes_read.fetch_add(end - begin, std::memory_order_relaxed);
  if (control_->on_progress) control_->on_progress();
}

bool FileSource::stopped() const { return control_ && control_->stop.load(std::memory_order_relaxed); }

// Waits for data, the end or an error; read() says which. False after a stop.
bool FileSource::wait_until_readable() const {
  pollfd waiting{descriptor_, POLLIN, 0};
  for (int milliseconds = 0;; milliseconds = kPollMilliseconds) {
    const int ready = ::poll(&waiting, 1, milliseconds);
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) fail(path_, "poll", errno);
    if (milliseconds == 0 && control_ && control_->on_input_idle) control_->on_input_idle();
    if (stopped()) return false;
  }
}

void allow_open_files(std::size_t count, const std::string& advice) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) throw Error(Fault::kFailed, describe_errno("getrlimit", errno));
  const rlim_t wanted = count + kReservedFiles;
  if (limit.rlim_cur >= wanted) return;
  if (limit.rlim_max < wanted) {
    throw Error(Fault::kFailed, std::to_string(count) + " shards must be kept open, but no more than " +
                                    std::to_string(limit.rlim_max) + " files may be open (" +
                                    std::to_string(kReservedFiles) +
                                    " of them are kept for other uses); raise the limit (ulimit -Hn), or " + advice);
  }
  // To the hard limit at once, so that a second stream beside this one has room too.
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw Error(Fault::kFailed, describe_errno("setrlimit", errno));
}

}  // namespace cpt
