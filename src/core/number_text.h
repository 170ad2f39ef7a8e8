// Numbers as text, for people and for files.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>

namespace cpt {

// The shortest text that reads back as exactly this number.
inline std::string number_text(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

// A digest as sixteen hexadecimal digits.
inline std::string digest_text(std::uint64_t digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = kDigits[digest >> (60 - 4 * i) & 15];
  return text;
}

}  // namespace cpt
