// Text files that are lists, a line an entry.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "data/source/byte_source.h"
#include "data/text/line_reader.h"

namespace cpt {

// Lines end in LF or CRLF and have at most 16 MiB; empty ones are skipped. Reading throws Error(kNoInput).
class ListFile {
 public:
  // Throws Error(kNoInput) if the file cannot be opened.
  explicit ListFile(const std::string& path);
  // `name`: what messages call it.
  ListFile(std::string name, std::unique_ptr<ByteSource> source);

  // The next line that is not empty, valid until the following call; false at the end. Error(kBadData) if it is too
  // long.
  bool next(std::string_view& line);
  // Of the line of the last call; at the end, of the last one.
  std::uint64_t line() const { return lines_.number(); }

  // Throw Error(kBadData) "NAME:LINE: expected ..., found ...", for the line of the last call or another one. `found`
  // is quoted where it is input.
  [[noreturn]] void refuse(const std::string& expected, const std::string& found) const;
  [[noreturn]] void refuse_at(std::uint64_t line, const std::string& expected, const std::string& found) const;

 private:
  std::string name_;
  LineReader lines_;
};

}  // namespace cpt
