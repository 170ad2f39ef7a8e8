// Where a command's results go: standard output, or a file that appears whole or not at all.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <string_view>
#include <utility>

#include "store/fs/durable_file.h"

namespace cpt {

// Thrown when nobody reads standard output any more, as in `cpt predict ... | head`: no failure, but the end. SIGPIPE
// must be ignored, or the process ends without it.
struct ClosedPipe {};

// Collects text and writes it in large pieces; on a terminal, line by line. Not thread-safe.
class ResultWriter {
 public:
  // An empty path or "-" is standard output. A file is written under a temporary name beside its own until finish();
  // pipes and devices are written as they are, and a symbolic link stays one. What killed processes have left of the
  // same file is removed. Throws Error(kCannotWrite).
  explicit ResultWriter(const std::filesystem::path& path = {});
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;
  // Without finish(): standard output still gets what was printed so far, a file is removed.
  ~ResultWriter();

  // Throws Error(kCannotWrite) that names the file and the reason, or ClosedPipe.
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    if (text_.size() >= kPiece || line_by_line_) flush();
  }

  // The same for a text.
  void write(std::string_view text) {
    text_.append(text.data(), text.data() + text.size());
    if (text_.size() >= kPiece || line_by_line_) flush();
  }
  // What was printed so far is written now. Throws like print().
  void flush();

  // Everything is written, and a file gets its name. Nothing may be printed afterwards. Throws like print().
  void finish();

 private:
  static constexpr std::size_t kPiece = std::size_t{1} << 18;

  [[noreturn]] void fail(const char* action);

  std::filesystem::path path_;       // as messages name it
  std::filesystem::path temporary_;  // empty: written in place
  FileDescriptor file_;              // -1: standard output
  fmt::memory_buffer text_;
  bool line_by_line_ = false;
  bool broken_ = false;
};

}  // namespace cpt
