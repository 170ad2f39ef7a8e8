// How digests are written wherever a person or a file gets one: sixteen hexadecimal digits.
#pragma once

#include <cstdint>
#include <string>

namespace cpt {

inline std::string digest_text(std::uint64_t digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = kDigits[digest >> (60 - 4 * i) & 15];
  return text;
}

}  // namespace cpt
