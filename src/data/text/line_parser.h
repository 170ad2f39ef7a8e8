// One line of text to examples. One implementation per format.
#pragma once

#include <memory>
#include <string_view>

#include "cpt/example.h"
#include "data/format/read_options.h"

namespace cpt {

// Keeps scratch memory between lines, so it is not thread-safe; nothing of one line influences another.
class LineParser {
 public:
  virtual ~LineParser() = default;
  // Appends what `line` (without its line end, not blank) holds and returns true; false if it holds no example.
  // Throws ParseError; the batch then has no new example but perhaps open features, which the caller discards.
  virtual bool parse(std::string_view line, const Origin& origin, Batch& batch) = 0;
};

// `format` is not kAuto. Throws Error(kUsage) for interactions in a format that has no namespaces. The options must
// outlive the parser.
std::unique_ptr<LineParser> make_line_parser(Format format, const ReadOptions& options);

}  // namespace cpt
