#include "app/cpt/io/result_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <exception>
#include <system_error>

#include "app/shared/process.h"
#include "cpt/error.h"
#include "store/blob/manifest.h"
#include "store/fs/unfinished.h"
#include "store/run/run_directory.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

// Renaming onto a device or a pipe would replace it by a file.
bool is_written_in_place(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_regular_file(path, error);
}

// Locks a temporary file or directory, so that other processes do not remove it.
void hold(const FileDescriptor& lock, const fs::path& temporary, const fs::path& target) {
  if (hold_unfinished(lock, temporary)) return;
  // Another process removed it before it was locked.
  throw Error(Fault::kCannotWrite,
              temporary.string() + ": was removed by another process that writes " + target.string());
}

// The temporary file to remove if a signal ends the process.
std::array<char, PATH_MAX> doomed{};

void remove_doomed(int signal) {
  ::unlink(doomed.data());
  ::raise(signal);  // SA_RESETHAND restored the default action, which follows when this handler returns
}

// An ignored signal stays ignored.
void remove_on_signal(const fs::path& file) {
  if (file.native().size() >= doomed.size()) return;
  std::ranges::copy(file.native(), doomed.begin());
  doomed[file.native().size()] = '\0';
  struct sigaction action {};
  action.sa_handler = remove_doomed;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    if (!is_ignored(signal)) ::sigaction(signal, &action, nullptr);
  }
}

// A stray file among those of a model or a run looks like a part of it.
void require_foreign_to_results(const fs::path& file) {
  std::error_code unknown;
  const fs::path whole = fs::weakly_canonical(fs::absolute(file, unknown), unknown);
  for (fs::path above = whole.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    const bool is_run = RunDirectory::is_at(above);
    if (!is_run && !fs::exists(above / kManifestName, unknown)) continue;
    throw Error(Fault::kCannotWrite, file.string() + ": lies in " + (is_run ? "the run directory " : "the model ") +
                                         above.string() + "; write elsewhere");
  }
}

// Follows symbolic links, also to a file that does not exist, so that the links stay.
fs::path target_of(fs::path path) {
  constexpr int kMostLinks = 40;  // the limit of Linux
  std::error_code error;
  for (int links = 0; links < kMostLinks && fs::is_symlink(path, error); ++links) {
    path = path.parent_path() / fs::read_symlink(path, error);
  }
  return path;
}

}  // namespace

ResultWriter::ResultWriter(const fs::path& path) {
  if (path.empty() || path == "-") {
    path_ = "standard output";
    line_by_line_ = ::isatty(STDOUT_FILENO) == 1;
    return;
  }
  const bool in_place = is_written_in_place(path);
  path_ = in_place ? path : target_of(path);
  if (!in_place) {
    require_foreign_to_results(path_);
    sweep_unfinished(path_);
  }
  const fs::path name = in_place ? path_ : temporary_name(path_);
  if (!in_place) remove_on_signal(name);  // before the file exists
  file_ = FileDescriptor(::open(name.c_str(), O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC), 0666));
  if (file_.get() < 0) fail("open");
  if (in_place) return;
  temporary_ = name;
  hold(file_, name, path_);
}

ResultWriter::~ResultWriter() {
  if (!temporary_.empty()) {
    std::error_code ignored;
    fs::remove(temporary_, ignored);
  } else if (!broken_) {
    try {
      flush();
    } catch (const Error&) {       // an earlier error is being reported
    } catch (const ClosedPipe&) {  // the reader has gone
    }
  }
}

void ResultWriter::finish() {
  flush();
  if (temporary_.empty()) return;
  if (::fsync(file_.get()) != 0) fail("fsync");
  const FileDescriptor held(::dup(file_.get()));  // keeps the lock until the file is renamed
  if (::close(file_.release()) != 0) fail("close");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
  temporary_.clear();
  sync_directory(directory_of(path_));
}

void ResultWriter::flush() {
  const int descriptor = file_.get() < 0 ? STDOUT_FILENO : file_.get();
  for (std::size_t done = 0; done < text_.size();) {
    const ssize_t count = ::write(descriptor, text_.data() + done, text_.size() - done);
    if (count >= 0) {
      done += static_cast<std::size_t>(count);
    } else if (errno != EINTR) {
      broken_ = true;
      if (errno == EPIPE) throw ClosedPipe{};
      fail("write");
    }
  }
  text_.clear();
}

void ResultWriter::fail(const char* action) {
  throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno(action, errno));
}

NewDirectory::NewDirectory(fs::path target) : target_(std::move(target)) {
  if (target_.empty()) throw Error(Fault::kUsage, "the name of the directory to write is empty");
  require_foreign_to_results(target_);
  std::error_code error;
  const bool is_taken = fs::exists(fs::symlink_status(target_, error)) &&
                        !(fs::is_directory(target_, error) && fs::is_empty(target_, error));
  if (is_taken) throw Error(Fault::kCannotWrite, target_.string() + ": exists and is not an empty directory");
  sweep_unfinished(target_);
  path_ = temporary_name(target_);
  create_directories_durably(path_);
  lock_ = FileDescriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_.get() < 0) throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("open", errno));
  hold(lock_, path_, target_);
}

NewDirectory::~NewDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void NewDirectory::publish() {
  const fs::path results = std::exchange(path_, {});
  try {
    publish_new_directory(results, target_);
  } catch (const Error& error) {
    throw Error(error.fault(), std::string(error.what()) + "; the results are in " + results.string());
  }
}

std::string part_name(std::uint64_t number, const std::string& ending) {
  return fmt::format("part-{:03}.{}", number, ending);
}

}  // namespace cpt
