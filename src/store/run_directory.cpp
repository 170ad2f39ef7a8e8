#include "store/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "cpt/error.h"
#include "store/blob_set.h"
#include "store/checkpoints.h"

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

// `is_new`: whether there was none before.
FileDescriptor lock_directory(const fs::path& directory, bool& is_new) {
  const fs::path path = directory / "lock";
  FileDescriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  is_new = lock.get() != -1;
  if (!is_new && errno == EEXIST) lock = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (lock.get() == -1) throw Error(Fault::kCannotWrite, path.string() + ": " + describe_errno("open", errno));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) {
      throw Error(Fault::kCannotWrite, path.string() + ": " + describe_errno("flock", errno) +
                                           "; a run directory must lie on a file system with locks: mount it with "
                                           "them, or choose another run directory");
    }
    throw Error(Fault::kCannotWrite, directory.string() + ": in use by " + describe_holder(lock.get()) +
                                         "; wait for it or choose another run directory");
  }
  const std::string text = host_and_process() + '\n';
  if (::ftruncate(lock.get(), 0) != 0 || ::pwrite(lock.get(), text.data(), text.size(), 0) < 0) {
    throw Error(Fault::kCannotWrite, path.string() + ": " + describe_errno("write", errno));
  }
  return lock;
}

// Holds something. An empty folder, or a link, may have been put there for the run to write to.
bool is_somebodys(const fs::path& path) {
  std::error_code unknown;
  return !fs::is_symlink(path, unknown) && fs::exists(path, unknown) && !fs::is_empty(path, unknown);
}

}  // namespace

RunDirectory::RunDirectory(fs::path path, Begin begin) : path_(std::move(path)) {
  create_directory_durably(path_);
  lock_ = lock_directory(path_, is_first_);
  if (begin == Begin::kFresh) require_nothing_to_lose();
  remove_leftovers();
  if (begin == Begin::kFresh) remove_earlier_results();
}

bool RunDirectory::is_at(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path / "lock", unknown) && fs::exists(path / "metrics.jsonl", unknown);
}

void RunDirectory::begin_fresh() const {
  require_nothing_to_lose();
  remove_earlier_results();
}

void RunDirectory::remove_summary() const { remove_durably(summary()); }

void RunDirectory::remove_model() const { remove_durably(model()); }

void RunDirectory::require_nothing_to_lose() const {
  std::error_code unknown;
  const auto refuse = [&](const fs::path& foreign) {
    if (is_first_) fs::remove(lock(), unknown);  // else the next run would take all for what a run has left
    throw Error(Fault::kCannotWrite, foreign.string() + ": was not written by a run; choose another run directory");
  };
  if (!may_hold_blob_set(model())) refuse(model());
  for (const fs::path& path : {checkpoints(), summary(), metrics(), log()}) {
    if (is_first_ && is_somebodys(path)) refuse(path);
  }
  if (!fs::exists(summary(), unknown) && !Checkpoints(checkpoints()).list().empty()) {
    throw Error(Fault::kUsage, path_.string() +
                                   ": holds checkpoints of a run that did not finish: add --resume to go on with it, "
                                   "or remove " +
                                   checkpoints().string() + " to start anew");
  }
}

void RunDirectory::remove_earlier_results() const {
  // The checkpoints before the summary: a crash between them leaves a finished run with fewer checkpoints, and the next
  // fresh run goes on here. The other way round it would leave checkpoints without a summary, that is a run that looks
  // unfinished: a fresh run would be refused, and --resume would bring back what was to be replaced.
  Checkpoints(checkpoints()).remove_all();
  for (const fs::path& stale : {summary(), metrics()}) remove_durably(stale);
}

void RunDirectory::remove_leftovers() const {
  restore_directory(model());  // of a process that was killed while it replaced it
  std::vector<fs::path> leftovers;
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end; entry.increment(error)) {
    if (is_temporary_name(entry->path())) leftovers.push_back(entry->path());
  }
  if (error) throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("list", error.value()));
  for (const fs::path& leftover : leftovers) remove_durably(leftover);
  Checkpoints(checkpoints()).remove_leftovers();
}

}  // namespace cpt
