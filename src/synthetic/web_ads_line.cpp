#include "synthetic/web_ads_line.h"

#include <charconv>
#include <string_view>

#include "data/text/line_parser.h"

namespace cpt {

namespace {

void append(std::string_view prefix, std::uint64_t number, std::string& text) {
  char digits[20];
  char* end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  text.append(prefix).append(digits, end);
}

void append_vw(std::uint64_t ad, std::span<const WordCount> words, std::string& text) {
  append("ad", ad, text);
  text += " |page";
  for (const WordCount& each : words) {
    append(" w", each.word, text);
    if (each.count > 1) append(":", each.count, text);
  }
}

void append_libsvm(std::uint64_t ad, std::span<const WordCount> words, std::string& text) {
  append("", ad, text);
  for (const WordCount& each : words) {
    append(" ", each.word, text);
    append(":", each.count, text);
  }
}

void append_fasttext(std::uint64_t ad, std::span<const WordCount> words, std::string& text) {
  text += kFasttextLabelPrefix;
  append("ad", ad, text);
  for (const WordCount& each : words) {
    for (std::uint64_t i = 0; i < each.count; ++i) append(" w", each.word, text);
  }
}

}  // namespace

void append_line(Format format, std::uint64_t ad, std::span<const WordCount> words, std::string& text) {
  if (format == Format::kLibsvm) {
    append_libsvm(ad, words, text);
  } else if (format == Format::kFasttext) {
    append_fasttext(ad, words, text);
  } else {
    append_vw(ad, words, text);
  }
  text += '\n';
}

}  // namespace cpt
