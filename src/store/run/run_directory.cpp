#include "store/run/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "cpt/error.h"
#include "store/blob/blob_set.h"
#include "store/fs/durable_file.h"
#include "store/fs/unfinished.h"
#include "store/run/checkpoints.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTrialName = "trial";

fs::path made(fs::path directory) {
  create_directories_durably(directory);
  return directory;
}

// An empty folder, or a link, may have been put there for the run to write to.
bool holds_something(const fs::path& path) {
  const fs::file_type type = type_of(path, Links::kKeep);
  std::error_code unknown;
  return type != fs::file_type::symlink && type != fs::file_type::not_found && !fs::is_empty(path, unknown);
}

std::string host_and_process() {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) return "unknown " + std::to_string(::getpid());
  return std::string(host.data()) + ' ' + std::to_string(::getpid());
}

// "process 17 on host a", from the text that the holder wrote into the lock; it may not have written it yet.
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

RunLock::RunLock(const fs::path& directory, const LockWait& wait) : directory_(directory), path_(directory / "lock") {
  constexpr std::chrono::milliseconds kPause(100);
  const auto end = std::chrono::steady_clock::now() + wait.limit;
  for (bool waits = false;;) {
    if (try_to_lock()) {
      if (has_name(file_, path_)) break;  // otherwise the previous holder has removed it
      continue;
    }
    const std::string in_use = directory_.string() + ": in use by " + describe_holder(file_.get());
    if (std::chrono::steady_clock::now() >= end)
      throw Error(Fault::kCannotWrite, in_use + "; wait for it or choose another run directory");
    if (!std::exchange(waits, true) && wait.tell) wait.tell(in_use + "; waiting for its end");
    std::this_thread::sleep_for(kPause);
  }
  const std::string text = host_and_process() + '\n';
  if (::ftruncate(file_.get(), 0) != 0 || ::pwrite(file_.get(), text.data(), text.size(), 0) < 0) {
    fail_writing(path_, "write");
  }
}

RunLock::~RunLock() {
  std::error_code ignored;
  if (is_first_ && !has_begun_) fs::remove(path_, ignored);
}

void RunLock::require_in_place() {
  try {
    const bool is_in_place = has_name(file_, path_);
    is_in_doubt_ = false;
    if (is_in_place) return;
  } catch (const Error& error) {
    if (std::exchange(is_in_doubt_, true)) throw Error(Fault::kCannotWrite, error.what());
    return;
  }
  throw Error(Fault::kCannotWrite, directory_.string() +
                                       ": the run directory, or the lock in it, was removed or "
                                       "renamed while the run was going on");
}

// Returns false if another process holds it.
bool RunLock::try_to_lock() {
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC;
  file_ = FileDescriptor(::open(path_.c_str(), kFlags | O_EXCL, 0666));
  is_first_ = file_.get() != -1;
  if (!is_first_ && errno == EEXIST) file_ = FileDescriptor(::open(path_.c_str(), kFlags, 0666));
  if (file_.get() == -1) fail_writing(path_, "open");
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) return true;
  if (errno == EWOULDBLOCK) return false;
  throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("flock", errno) +
                                       "; a run directory must lie on a file system with locks: mount it with "
                                       "them, or choose another run directory");
}

RunDirectory::RunDirectory(fs::path path, Begin begin, const LockWait& wait)
    : path_(made(std::move(path))), lock_(path_, wait) {
  if (begin == Begin::kFresh) {
    begin_fresh();
  } else {
    remove_leftovers();
  }
}

bool RunDirectory::is_at(const fs::path& path) {
  std::error_code unknown;
  return fs::exists(path / "lock", unknown) && fs::exists(path / "metrics.jsonl", unknown);
}

// Where checkpoints are a link, their parts lie on another file system.
void RunDirectory::require_writable(const fs::path& run) {
  const fs::path checkpoints = run / "checkpoints";
  const bool has_checkpoints = type_of(checkpoints) == fs::file_type::directory;
  const fs::path trial = temporary_name((has_checkpoints ? checkpoints : run) / kTrialName);
  try {
    OutputFile file(trial);
    file.write(std::as_bytes(std::span("\n", 1)));
    file.close();
  } catch (const Error&) {
    ::unlink(trial.c_str());
    throw;
  }
  if (::unlink(trial.c_str()) != 0) fail_writing(trial, "unlink");
}

void RunDirectory::require_unfinished(const fs::path& run) {
  if (type_of(run / "summary.json") == fs::file_type::not_found) return;
  throw Error(Fault::kCannotWrite, run.string() +
                                       ": holds the results of a finished run; add --overwrite to replace them, or "
                                       "choose another directory with --run");
}

void RunDirectory::begin_fresh() {
  require_nothing_to_lose();
  lock_.begin_run();
  remove_leftovers();
  remove_earlier_results();
}

void RunDirectory::begin_resumed() {
  lock_.begin_run();
  remove_durably(summary());
}

void RunDirectory::require_no_model() const {
  if (type_of(model()) == fs::file_type::not_found) return;
  throw Error(Fault::kCannotWrite, model().string() +
                                       ": is the model of another run, and this run makes none to replace it; choose "
                                       "another run directory");
}

void RunDirectory::require_nothing_to_lose() const {
  const auto refuse = [&](const fs::path& foreign) {
    throw Error(Fault::kCannotWrite, foreign.string() + ": was not written by a run; choose another run directory");
  };
  if (!may_hold_blob_set(model())) refuse(model());
  for (const fs::path& path : {checkpoints(), summary(), metrics(), log()}) {
    if (lock_.is_first() && holds_something(path)) refuse(path);
  }
  if (type_of(summary()) == fs::file_type::not_found && !Checkpoints(checkpoints()).list().empty()) {
    throw Error(Fault::kUsage, path_.string() +
                                   ": holds checkpoints of a run that did not finish: add --resume to continue it, "
                                   "or remove " +
                                   checkpoints().string() + " to start again");
  }
}

void RunDirectory::remove_earlier_results() const {
  // Checkpoints go before the summary: a crash in between leaves a finished run with fewer checkpoints, and the next
  // fresh run continues here. In the opposite order it would leave checkpoints without a summary, which look like an
  // unfinished run: a fresh run would be refused, and --resume would bring back the results that were to be replaced.
  Checkpoints(checkpoints()).remove_all();
  for (const fs::path& stale : {summary(), metrics()}) remove_durably(stale);
}

void RunDirectory::remove_leftovers() const {
  restore_directory(model());  // of a process that was killed while it replaced it
  sweep_replacements(model());
  for (const fs::path& path : {summary(), metrics(), path_ / kTrialName, checkpoints() / kTrialName})
    sweep_unfinished(path);
  Checkpoints(checkpoints()).remove_leftovers();
}

}  // namespace cpt
