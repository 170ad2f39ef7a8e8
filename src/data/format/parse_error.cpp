#include "data/format/parse_error.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

namespace cpt {
namespace {

constexpr std::size_t kShownCharacters = 80;

// Bytes of the UTF-8 character at the front of `text`; 0 if there is none that can be printed.
std::size_t printable_bytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return lead >= 0x20 && lead != 0x7f ? 1 : 0;
  const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return 0;
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (const char c : text.substr(1, bytes - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xc0U) != 0x80) return 0;
    code = code << 6 | (byte & 0x3fU);
  }
  // 2-byte controls, overlong forms, surrogates, and codes beyond Unicode.
  const std::array<std::uint32_t, 5> smallest = {0, 0, 0xa0, 0x800, 0x10000};
  if (code < smallest[bytes] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return 0;
  return bytes;
}

}  // namespace

std::string quote(std::string_view text) {
  std::string shown = "'";
  for (std::size_t characters = 0; !text.empty(); ++characters) {
    if (characters == kShownCharacters) return shown + "...'";
    const std::size_t bytes = printable_bytes(text);
    if (bytes > 0) {
      shown += text.substr(0, bytes);
    } else if (text.front() == '\t') {
      shown += "\\t";
    } else {
      std::array<char, 5> escape{};
      std::snprintf(escape.data(), escape.size(), "\\x%02x",
                    static_cast<unsigned>(static_cast<unsigned char>(text[0])));
      shown += escape.data();
    }
    text.remove_prefix(std::max<std::size_t>(bytes, 1));
  }
  return shown + "'";
}

void reject(std::string_view line, std::string_view piece, const std::string& expected) {
  const auto offset = static_cast<std::size_t>(piece.data() - line.data());
  const bool at_end = piece.empty() && offset == line.size();
  throw ParseError(offset + 1, expected, at_end ? "the end of the line" : quote(piece));
}

}  // namespace cpt
