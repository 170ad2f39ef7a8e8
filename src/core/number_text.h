// Numbers as text.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace cpt {

// The shortest text that reads back as the same number.
inline std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// A digest as people and files get it: sixteen hexadecimal digits.
inline std::string digest_text(std::uint64_t digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = kDigits[digest >> (60 - 4 * i) & 15];
  return text;
}

// The number that is all of the text, as std::from_chars reads it; nullopt if it is none, or does not fit.
template <class Number>
std::optional<Number> parse_all(std::string_view text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace cpt
