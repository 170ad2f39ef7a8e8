#include "data/format.h"

#include <algorithm>

#include "data/tokens.h"

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

}  // namespace

bool is_xmc_header(std::string_view line) {
  Tokens tokens(line);
  for (int i = 0; i < 3; ++i) {
    if (!all_digits(tokens.next())) return false;
  }
  return tokens.next().empty();
}

std::string_view foreign_compression(std::string_view beginning) {
  // A line of text may begin with "BZh", or with "PK".
  if (beginning.starts_with("BZh") && beginning.size() >= 8 && beginning.substr(4, 4) == "1AY&") return "bzip2";
  if (beginning.starts_with("\3757zXZ")) return "xz";
  if (beginning.starts_with("PK\x03\x04")) return "zip";
  return {};
}

std::optional<Format> detect_format(std::string_view line) {
  if (Tokens(line).next().starts_with(kFasttextLabelPrefix)) return Format::kFasttext;
  if (line.find('|') != std::string_view::npos) return Format::kVw;
  if (is_xmc_header(line) || is_libsvm(line)) return Format::kLibsvm;
  return std::nullopt;
}

}  // namespace cpt
