#include "data/number.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

#include "data/limits.h"

namespace cpt {

std::optional<double> parse_number(std::string_view text) {
  // std::from_chars takes a minus but no plus.
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (stop != end || failure == std::errc::invalid_argument) return std::nullopt;
  // from_chars does not say whether a number is too large or too small for a double; strtod does.
  if (failure == std::errc::result_out_of_range) number = std::strtod(std::string(text).c_str(), nullptr);
  if (!(std::abs(number) <= kMaxValue)) return std::nullopt;
  return number;
}

}  // namespace cpt
