// Numbers in text.
#pragma once

#include <cmath>
#include <optional>
#include <string_view>

namespace cpt {

// The decimal number that is the whole text ("1", "-.5", "+2e-3"); nothing if the text is anything else, NaN, infinite
// or larger than kMaxValue in size. Numbers too small for a double are 0.
inline std::optional<double> parse_number(std::string_view text);

// The same, with NaN for nothing.
double number_or_nan(std::string_view text);

inline std::optional<double> parse_number(std::string_view text) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') return text[0] - '0';
  const double number = number_or_nan(text);
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

// Whether the text is an unsigned integer below 2^64 and nothing else.
bool is_index(std::string_view text);

}  // namespace cpt
