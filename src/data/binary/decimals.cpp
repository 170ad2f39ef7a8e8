#include "data/binary/decimals.h"

#include <array>
#include <bit>
#include <cmath>

namespace cpt {

namespace {

constexpr std::array<float, Decimals::kMostDigits + 1> kPowers{1e0F, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F,
                                                               1e6F, 1e7F, 1e8F, 1e9F, 1e10F};
constexpr double kMost = 1 << 24;

float value_of(std::uint32_t number, float power) {
  const auto m = static_cast<std::int32_t>((number >> 1) ^ (0U - (number & 1)));
  return static_cast<float>(m) / power;
}

// The number of a value; nothing if the value is not such a decimal.
std::optional<std::uint32_t> number_of(float value, float power) {
  const double m = std::nearbyint(static_cast<double>(value) * static_cast<double>(power));
  if (!(std::abs(m) <= kMost)) return std::nullopt;
  const auto whole = static_cast<std::int32_t>(m);
  const std::uint32_t number = (static_cast<std::uint32_t>(whole) << 1) ^ static_cast<std::uint32_t>(whole >> 31);
  const bool same = std::bit_cast<std::uint32_t>(value_of(number, power)) == std::bit_cast<std::uint32_t>(value);
  return same ? std::optional(number) : std::nullopt;
}

}  // namespace

std::optional<Decimals> as_decimals(std::span<const float> values) {
  Decimals decimals;
  decimals.numbers.reserve(values.size());
  while (decimals.numbers.size() < values.size()) {
    if (const auto number = number_of(values[decimals.numbers.size()], kPowers[decimals.digits])) {
      decimals.numbers.push_back(*number);
    } else {
      if (decimals.digits == Decimals::kMostDigits) return std::nullopt;
      ++decimals.digits;
      decimals.numbers.clear();
    }
  }
  return decimals;
}

void from_decimals(std::span<const std::uint32_t> numbers, unsigned digits, std::span<float> values) {
  const float power = kPowers.at(digits);
  for (std::size_t i = 0; i < numbers.size(); ++i) values[i] = value_of(numbers[i], power);
}

}  // namespace cpt
