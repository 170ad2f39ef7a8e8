#include "data/text/tokens.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <locale>
#include <sstream>
#include <string>
#include <system_error>

#include "data/format/read_options.h"

namespace cpt {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kShort = sizeof(std::uint64_t);
constexpr std::uint64_t kBytes = 0x0101010101010101;

// One to eight bytes as a number: the first byte lowest, zeros above the last.
std::uint64_t word_of(std::string_view text) {
  const auto part = [&text](std::size_t first, auto bytes) {
    std::memcpy(&bytes, text.data() + first, sizeof bytes);
    return std::uint64_t{bytes};
  };
  const std::size_t size = text.size();
  if (size >= 4) return part(0, std::uint32_t{}) | part(size - 4, std::uint32_t{}) << (8 * (size - 4));
  if (size >= 2) return part(0, std::uint16_t{}) | part(size - 2, std::uint16_t{}) << (8 * (size - 2));
  return part(0, std::uint8_t{});
}

// The value of eight digits, the first one in the lowest byte.
std::uint64_t value_of_digits(std::uint64_t digits) {
  digits = (digits & 0x0f0f0f0f0f0f0f0f) * 2561 >> 8;
  digits = (digits & 0x00ff00ff00ff00ff) * 6553601 >> 16;
  return (digits & 0x0000ffff0000ffff) * 42949672960001 >> 32;
}

constexpr std::array<double, 9> kPowersOfTen = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};

// Pads `digits` digits in front with '0' to eight.
std::uint64_t filled_up(std::uint64_t word, std::size_t digits) {
  const std::size_t missing = 64 - 8 * digits;
  return word << missing | (kBytes * '0' & ~(~std::uint64_t{0} << missing));
}

bool all_digits(std::uint64_t word) {
  const std::uint64_t upper = kBytes * 0xf0;
  return ((word & upper) | ((word + kBytes * 6) & upper) >> 4) == kBytes * 0x33;
}

// The value of one to eight bytes that are digits with at most one '.'; NaN for any other text. Digits and power are
// exact as doubles, so their quotient is rounded only once and equals the result of std::from_chars.
double short_decimal(std::string_view text) {
  std::uint64_t word = word_of(text);
  std::size_t digits = text.size();
  std::size_t decimals = 0;
  const std::uint64_t other = word ^ kBytes * '.';
  if (const std::uint64_t zeros = (other - kBytes) & ~other & kBytes * 0x80) {  // only the lowest match is exact
    const int before = std::countr_zero(zeros) & ~7;                            // bits in front of the '.'
    if (--digits == 0) return kNone;
    decimals = digits - static_cast<std::size_t>(before) / 8;
    word = (word & ~(~std::uint64_t{0} << before)) | word >> 8 >> before << before;
  }
  word = filled_up(word, digits);
  if (!all_digits(word)) return kNone;
  const auto number = static_cast<double>(value_of_digits(word));
  return decimals == 0 ? number : number / kPowersOfTen[decimals];
}

[[gnu::noinline]] double any_decimal(std::string_view text) {
  // std::from_chars takes a minus but no plus.
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return kNone;
  }
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (stop != end || failure == std::errc::invalid_argument) return kNone;
  // from_chars does not say whether a number is too large or too small for a double; streams do.
  if (failure == std::errc::result_out_of_range) {
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    stream >> number;
  }
  return std::abs(number) <= kMaxValue ? number : kNone;
}

}  // namespace

double number_or_nan(std::string_view text) {
  if (!text.empty() && text.size() <= kShort) {
    if (const double number = short_decimal(text); !std::isnan(number)) return number;
  }
  return any_decimal(text);
}

bool is_index(std::string_view text) {
  if (text.empty()) return false;
  if (text.size() <= kShort) return all_digits(filled_up(word_of(text), text.size()));
  std::uint64_t index = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, index);
  return stop == end && failure == std::errc{};
}

}  // namespace cpt
