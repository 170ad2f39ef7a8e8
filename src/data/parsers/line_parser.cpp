#include "data/parsers/line_parser.h"

#include <algorithm>

#include "cpt/error.h"
#include "data/text/ngrams.h"
#include "data/text/tokens.h"

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

bool begins_json_object(std::string_view line) {
  const std::size_t brace = line.find_first_not_of(" \t");
  if (brace == std::string_view::npos || line[brace] != '{') return false;
  const std::size_t next = line.find_first_not_of(" \t", brace + 1);
  return next == std::string_view::npos || line[next] == '"' || line[next] == '}';
}

// Ignores the case of letters in `path`.
bool has_extension(std::string_view path, std::string_view extension) {
  const auto is_same = [](char a, char b) { return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b); };
  return path.size() >= extension.size() &&
         std::ranges::equal(path.substr(path.size() - extension.size()), extension, is_same);
}

}  // namespace

bool is_xmc_header(std::string_view line) {
  Tokens tokens(line);
  for (int i = 0; i < 3; ++i) {
    if (!all_digits(tokens.next())) return false;
  }
  return tokens.next().empty();
}

bool is_json_array(std::string_view line) { return Tokens(line).next().starts_with('['); }

bool is_blank_line(std::string_view line) { return std::all_of(line.begin(), line.end(), is_blank); }

bool is_table_name(std::string_view path) {
  for (const std::string_view compressed : {".gz", ".zst"}) {
    if (has_extension(path, compressed)) path.remove_suffix(compressed.size());
  }
  return has_extension(path, ".csv") || has_extension(path, ".tsv");
}

bool is_text(std::string_view line) { return line.find('\0') == std::string_view::npos; }

std::optional<Format> detect_format(std::string_view line) {
  if (Tokens(line).next().starts_with(kFasttextLabelPrefix)) return Format::kFasttext;
  if (begins_json_object(line)) return Format::kJson;
  if (line.find('|') != std::string_view::npos) return Format::kVw;
  if (is_xmc_header(line) || is_libsvm(line)) return Format::kLibsvm;
  return std::nullopt;
}

std::string advice_on_format(std::string_view line) {
  if (is_json_array(line)) return std::string("; ") + kOneObjectALine;
  return "; name the format with --format, such as --format csv for a table";
}

std::string describe_format(Format format) {
  if (format == Format::kVw) return "vw, like 'label |page word word2:0.5'";
  if (format == Format::kLibsvm) return "libsvm, like 'label 3:1 17:0.5'";
  if (format == Format::kJson) return R"(json, like '{"label": "name", "words": ["a", "b"], "size": 0.5}')";
  if (format == Format::kCsv) return "csv, a table whose columns the first line or --columns names";
  return "fasttext, like '__label__name word word2'";
}

std::unique_ptr<LineParser> make_line_parser(Format format, const ReadOptions& options) {
  require_words(format, options);
  if (format == Format::kVw) return make_vw_parser(options);
  if (format == Format::kJson) return make_json_parser(options);
  if (!options.interactions.empty()) {
    throw Error(Fault::kUsage, "--interactions needs namespaces, which only the vw, json and csv formats have");
  }
  if (format == Format::kLibsvm) return make_libsvm_parser(options);
  if (format == Format::kFasttext) return make_fasttext_parser(options);
  if (format == Format::kCsv) throw Error(Fault::kUsage, "a line of csv cannot be read without its header");
  throw Error(Fault::kFailed, "a parser needs a format");
}

}  // namespace cpt
