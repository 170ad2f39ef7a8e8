// The parsers of lines as one would first write them, byte after byte: what the fast ones are compared with.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "data/parsers/line_parser.h"

namespace cpt {

// As parse_decimal.
std::optional<double> plain_number(std::string_view text);

// As make_line_parser.
std::unique_ptr<LineParser> make_plain_parser(Format format, const ReadOptions& options);

}  // namespace cpt
