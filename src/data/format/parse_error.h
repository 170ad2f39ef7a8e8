// Why a line is refused. These exceptions stay inside this layer: ExampleStream adds the place and counts or throws.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cpt/error.h"

namespace cpt {

// "'text'" as it can be shown on one line: cut to 80 characters, then "..."; control bytes and broken UTF-8 as \xNN.
std::string quote(std::string_view text);

// A line that breaks its format.
class ParseError : public Error {
 public:
  // column: 1-based byte of the line. found: as it is to be printed, that is quoted where it is input.
  ParseError(std::size_t column, const std::string& expected, const std::string& found)
      : Error(Fault::kBadData, "expected " + expected + ", found " + found), column_(column) {}
  std::size_t column() const { return column_; }

 private:
  std::size_t column_;
};

// A compressed stream that breaks off or makes no sense: nothing more can be read of its shard.
class CorruptInput : public Error {
 public:
  CorruptInput(const std::string& expected, const std::string& found)
      : Error(Fault::kBadData, "expected " + expected + ", found " + found) {}
};

// Throws a ParseError of `piece`, which lies inside `line` (or is empty, at its end).
[[noreturn]] void reject(std::string_view line, std::string_view piece, const std::string& expected);

}  // namespace cpt
