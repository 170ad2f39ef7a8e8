// Values as the short decimal numbers from which they were parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cpt {

// The values m / 10^digits with |m| <= 2^24: m and the power are then exact as floats, and their quotient is the float
// nearest to the decimal number, as a parser gives it.
struct Decimals {
  static constexpr unsigned kMostDigits = 10;

  unsigned digits = 0;                 // after the point, at most kMostDigits
  std::vector<std::uint32_t> numbers;  // 2m, or -2m - 1 if m is negative
};

// The values, exact to the last bit, with as few digits as possible for all of them; nothing if they need too many.
std::optional<Decimals> as_decimals(std::span<const float> values);
// Fills in the value of each number.
void from_decimals(std::span<const std::uint32_t> numbers, unsigned digits, std::span<float> values);

}  // namespace cpt
