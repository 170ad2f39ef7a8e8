// Lines of a text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/read_options.h"
#include "data/source/byte_source.h"

namespace cpt {

inline constexpr std::size_t kLineBufferBytes = std::size_t{1} << 16;

// Lines end in LF or CRLF; the last one may lack its end. A UTF-8 byte order mark at the start of the content counts as
// bytes, but is not part of the line. Not thread-safe.
class LineReader {
 public:
  enum class Status : std::uint8_t {
    kLine,
    kTooLong,  // longer than kMaxLineBytes: `line` is its start, and the next call continues after its end
    kEnd,
  };

  // `buffer`: bytes to read at a time. Grows only for a line that is longer.
  explicit LineReader(std::unique_ptr<ByteSource> source, std::size_t buffer = kLineBufferBytes)
      : source_(std::move(source)), buffer_bytes_(buffer) {}

  // The next line without its end, valid until the following call. Throws the errors of the source; a line that was cut
  // short by damage is not delivered.
  Status next(std::string_view& line);
  // Before the first call: sets the end. No line is read that begins at this byte of the content or later.
  void end_at(std::uint64_t bytes) { end_ = bytes; }
  // Before the first call: continues after the line that contains the byte before this one (>= 1), perhaps as its line
  // end. That line counts as line 1. So readers of neighboring ranges share no line and leave none out.
  void begin_at(std::uint64_t bytes);
  // Before the first call: continues after the first `bytes` of the content, which hold `lines` lines. False if the
  // content ends before that (or the source was stopped): offset() is then its size. Throws the errors of the source;
  // offset() is then the number of bytes before the error.
  bool skip(std::uint64_t bytes, std::uint64_t lines);

  // 1-based number of the line of the last call, even if it could not be read; at the end, of the last line.
  std::uint64_t number() const { return number_; }
  // The byte of the content at which the next line begins: the end of the line of the last call (or, if that was too
  // long, of at most the part returned).
  std::uint64_t offset() const { return taken_ - unfinished_bytes(); }
  // The byte of the content at which the line of the last call begins.
  std::uint64_t line_begin() const { return line_begin_; }
  // Bytes read of a line whose end was not read: the length at which a damaged line broke off.
  std::size_t unfinished_bytes() const { return last_ - first_; }

 private:
  bool skip_to_line_end();
  bool fill();
  void make_room();
  Status finish(std::string_view& line) const;

  std::unique_ptr<ByteSource> source_;
  std::size_t buffer_bytes_;
  std::vector<char> buffer_;
  std::size_t first_ = 0;  // buffer_[first_, last_) is read but not delivered
  std::size_t last_ = 0;
  std::uint64_t taken_ = 0;  // bytes of the source so far
  std::uint64_t end_ = ~std::uint64_t{0};
  std::uint64_t number_ = 0;
  std::uint64_t line_begin_ = 0;
  bool inside_line_ = false;  // in a line to skip, or delivered in part
};

// A text file that is a list with one entry a line. Empty lines are skipped. Reading throws Error(kNoInput).
class ListFile {
 public:
  // Throws Error(kNoInput) if the file cannot be opened.
  explicit ListFile(const std::string& path);
  // `name`: its name in messages.
  ListFile(std::string name, std::unique_ptr<ByteSource> source);

  // The next line that is not empty, valid until the following call; false at the end. Throws Error(kBadData) if it is
  // too long.
  bool next(std::string_view& line);
  // Number of the line of the last call; at the end, of the last one.
  std::uint64_t line() const { return lines_.number(); }

  // Throw Error(kBadData) "NAME:LINE: expected ..., found ...", for the line of the last call or for another one. Quote
  // `found` if it is input.
  [[noreturn]] void refuse(const std::string& expected, const std::string& found) const;
  [[noreturn]] void refuse_at(std::uint64_t line, const std::string& expected, const std::string& found) const;

 private:
  std::string name_;
  LineReader lines_;
};

}  // namespace cpt
