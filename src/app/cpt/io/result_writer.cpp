#include "app/cpt/io/result_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>

#include "cpt/error.h"
#include "store/fs/unfinished.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

// Renaming onto a device or a pipe would replace it by a file.
bool is_written_in_place(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_regular_file(path, error);
}

// The file behind symbolic links, whether it is there or not, so that the links stay.
fs::path target_of(fs::path path) {
  constexpr int kMostLinks = 40;  // as the system has it
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
  if (!in_place) sweep_unfinished(path_);
  const fs::path name = in_place ? path_ : temporary_name(path_);
  file_ = FileDescriptor(::open(name.c_str(), O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC), 0666));
  if (file_.get() < 0) fail("open");
  if (in_place) return;
  temporary_ = name;
  // Another process may have swept it before it was locked.
  if (!hold_unfinished(file_, name)) {
    throw Error(Fault::kCannotWrite, name.string() + ": was removed by another process that writes " + path_.string());
  }
}

ResultWriter::~ResultWriter() {
  if (!temporary_.empty()) {
    std::error_code ignored;
    fs::remove(temporary_, ignored);
  } else if (!broken_) {
    try {
      flush();
    } catch (const Error&) {       // whoever destroys this unfinished has a failure of his own to report
    } catch (const ClosedPipe&) {  // nobody wants the rest
    }
  }
}

void ResultWriter::finish() {
  flush();
  if (temporary_.empty()) return;
  if (::fsync(file_.get()) != 0) fail("fsync");
  const FileDescriptor held(::dup(file_.get()));  // until it has its name
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

}  // namespace cpt
