#include "data/format/format.h"

#include <algorithm>
#include <array>

#include "data/format/tokens.h"

namespace cpt {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_indexed(std::string_view token) {
  const std::size_t colon = token.find(':');
  return colon != std::string_view::npos && all_digits(token.substr(0, colon));
}

bool is_libsvm(std::string_view line) {
  Tokens tokens(line);
  std::string_view token = tokens.next();
  if (!is_indexed(token)) token = tokens.next();  // the first one was a label
  if (token.empty()) return false;
  for (; !token.empty(); token = tokens.next()) {
    if (!is_indexed(token)) return false;
  }
  return true;
}

constexpr char kAny = '?';

struct Compression {
  std::string_view name;
  std::string_view magic;  // long enough that no line of text begins so; kAny stands for any byte
};
constexpr std::array<Compression, 3> kForeign{{{"bzip2", "BZh?1AY&"}, {"xz", "\3757zXZ"}, {"zip", "PK\x03\x04"}}};

// As far as both go.
bool begins_like(std::string_view text, std::string_view magic) {
  const std::size_t common = std::min(text.size(), magic.size());
  return std::equal(magic.begin(), magic.begin() + common, text.begin(),
                    [](char expected, char byte) { return expected == kAny || byte == expected; });
}

}  // namespace

bool is_xmc_header(std::string_view line) {
  Tokens tokens(line);
  for (int i = 0; i < 3; ++i) {
    if (!all_digits(tokens.next())) return false;
  }
  return tokens.next().empty();
}

std::string_view foreign_compression(std::string_view beginning) {
  for (const Compression& compression : kForeign) {
    const bool is_whole = beginning.size() >= compression.magic.size();
    if (is_whole && begins_like(beginning, compression.magic)) return compression.name;
  }
  return {};
}

bool may_be_foreign_compression(std::string_view beginning) {
  return std::ranges::any_of(kForeign,
                             [&](const Compression& compression) { return begins_like(beginning, compression.magic); });
}

std::optional<Format> detect_format(std::string_view line) {
  if (Tokens(line).next().starts_with(kFasttextLabelPrefix)) return Format::kFasttext;
  if (line.find('|') != std::string_view::npos) return Format::kVw;
  if (is_xmc_header(line) || is_libsvm(line)) return Format::kLibsvm;
  return std::nullopt;
}

}  // namespace cpt
