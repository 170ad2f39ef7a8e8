// Errors in input, without their place. These exceptions stay inside this layer: ExampleStream adds the place, and
// counts or throws.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cpt/error.h"

namespace cpt {

// The text in single quotes, printable on one line: cut to 80 characters and "..."; a tab as \t, other control
// bytes and broken UTF-8 as \xNN.
std::string quote(std::string_view text);

// A line that breaks its format.
class ParseError : public Error {
 public:
  // column: 1-based byte of the line. found: text to print; quote it if it is input.
  ParseError(std::size_t column, const std::string& expected, const std::string& found)
      : Error(Fault::kBadData, "expected " + expected + ", found " + found), column_(column) {}
  std::size_t column() const { return column_; }

 private:
  std::size_t column_;
};

// A line with an empty set of labels, which holds nothing to learn: it is skipped whatever ReadOptions say.
class UnlabelledLine : public ParseError {
 public:
  using ParseError::ParseError;
};

// A compressed stream or binary shard that breaks off or is malformed.
class CorruptInput : public Error {
 public:
  CorruptInput(const std::string& expected, const std::string& found)
      : Error(Fault::kBadData, "expected " + expected + ", found " + found) {}
};

// Throws a ParseError at `piece`, which lies inside `line` (or is empty, at its end), with the piece as what was found.
[[noreturn]] void reject(std::string_view line, std::string_view piece, const std::string& expected);

}  // namespace cpt
