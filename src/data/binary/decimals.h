// Values as the short decimal numbers that they were written as.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace cpt {

// The values m / 10^digits, m at most 2^24 either way: m and the power are floats without rounding then, and their
// quotient is the float nearest to the decimal number, as a parser gives it.
struct Decimals {
  static constexpr unsigned kMostDigits = 10;

  unsigned digits = 0;                 // behind the point, at most kMostDigits
  std::vector<std::uint32_t> numbers;  // 2m, or -2m - 1 where m is negative
};

// These values, to the last bit, with as few digits as all of them can have; nothing where there are too many.
std::optional<Decimals> as_decimals(std::span<const float> values);
// The value of a number.
void from_decimals(std::span<const std::uint32_t> numbers, unsigned digits, std::span<float> values);

}  // namespace cpt
