// Where a command writes its results: standard output, or a file or directory that appears complete or not at all.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "core/file_descriptor.h"
#include "store/fs/durable_file.h"

namespace cpt {

// Thrown when the reader of standard output has closed it, as in `cpt predict ... | head`. The program then ends with
// exit code 0. SIGPIPE must be ignored: its default action ends the process.
struct ClosedPipe {};

// Collects text and writes it in large pieces; on a terminal, line by line. Not thread-safe.
class ResultWriter {
 public:
  // An empty path or "-" is standard output. A file is written under a temporary name in the same directory until
  // finish(), and removed if INT, TERM or HUP ends the process; pipes and devices are written directly, and symbolic
  // links are followed. Removes the temporary files that killed processes left for the same file. Throws
  // Error(kCannotWrite), also if the file would lie in a model, a checkpoint or a run directory. If several files are
  // open, a signal removes only the one opened last.
  explicit ResultWriter(const std::filesystem::path& path = {});
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;
  // Without finish(): standard output gets the text printed so far; a file is removed.
  ~ResultWriter();

  // Throws Error(kCannotWrite) that names the file and the reason, or ClosedPipe.
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    flush_if_due();
  }

  // Appends `text`. Throws like print().
  void write(std::string_view text) {
    text_.append(text.data(), text.data() + text.size());
    flush_if_due();
  }
  // Writes the text printed so far. Throws like print().
  void flush();

  // Writes the rest and renames a file to its final name. Nothing may be printed afterwards. Throws like print().
  void finish();

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 18;

  void flush_if_due() {
    if (text_.size() >= kPiece || line_by_line_) flush();
  }
  [[noreturn]] void fail(const char* action);

  std::filesystem::path path_;       // the name used in messages
  std::filesystem::path temporary_;  // empty: the target is written directly
  FileDescriptor file_;              // -1: standard output
  fmt::memory_buffer text_;
  bool line_by_line_ = false;
  bool broken_ = false;
};

// A directory that is written under a temporary name, then renamed.
class NewDirectory {
 public:
  // Removes the temporary directories that killed processes left for the same target. Throws Error(kCannotWrite) if
  // `target` exists and is not an empty directory, or if its parent directory is not writable.
  explicit NewDirectory(std::filesystem::path target);
  // Without publish(), removes the directory and everything in it.
  ~NewDirectory();
  NewDirectory(const NewDirectory&) = delete;
  NewDirectory& operator=(const NewDirectory&) = delete;

  // The temporary name; write the files there.
  const std::filesystem::path& path() const { return path_; }
  // Renames the directory to its final name. Throws Error(kCannotWrite) if the name has been taken meanwhile; the
  // results then stay under the temporary name, which the message gives.
  void publish();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  FileDescriptor lock_;  // keeps other processes from removing the temporary directory
};

// The name of a shard in the directory, such as "part-007.vw". With at most kMostParts shards, names sort like numbers.
inline constexpr std::uint64_t kMostParts = 1000;
std::string part_name(std::uint64_t number, const std::string& ending);

}  // namespace cpt
