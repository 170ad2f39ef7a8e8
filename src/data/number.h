// Numbers in text.
#pragma once

#include <optional>
#include <string_view>

namespace cpt {

// The decimal number that is the whole text ("1", "-.5", "+2e-3"); nothing if the text is anything else, NaN, infinite
// or larger than kMaxValue (data/limits.h) in size. Numbers too small for a double are 0.
std::optional<double> parse_number(std::string_view text);

// Whether the text is an unsigned integer below 2^64 and nothing else.
bool is_index(std::string_view text);

}  // namespace cpt
