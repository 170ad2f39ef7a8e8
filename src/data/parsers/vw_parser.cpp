#include <array>
#include <cmath>
#include <string_view>

#include "core/hashing/name_hash.h"
#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "data/parsers/line_parser.h"
#include "data/text/delimiters.h"
#include "data/text/interactions.h"
#include "data/text/label_choice.h"
#include "data/text/ngrams.h"
#include "data/text/tokens.h"

namespace cpt {
namespace {

constexpr DelimiterSet kVwDelimiters(" \t|:");

// The end of the line counts as a bar, because it, too, ends a namespace.
char delimiter_at(std::string_view line, const char* at) { return at == line.data() + line.size() ? '|' : *at; }

std::string_view text_between(const char* first, const char* end) {
  return {first, static_cast<std::size_t>(end - first)};
}

class VwParser : public LineParser {
 public:
  explicit VwParser(const ReadOptions& options)
      : options_(options), hasher_(options.seed), interactions_(options), ngrams_(options) {
    for (std::size_t i = 0; i < short_name_spaces_.size(); ++i) {
      const auto name = static_cast<char>(i);
      short_name_spaces_[i] = hasher_.name_space({&name, 1});
    }
  }
  bool parse(std::string_view line, const Origin& origin, Batch& batch) override;
  std::string_view tag() const override { return tag_; }

 private:
  struct Header {
    std::string_view label;
    float importance = 1;
    std::string_view tag = {};
  };

  Header parse_header(std::string_view line, const char* first_delimiter, const char* bar) const;
  // These are inlined so that the walk stays in registers, which saves a twentieth of the time of reading.
  [[gnu::always_inline]] inline const char* parse_name_space(std::string_view line, const char* at, DelimiterWalk& walk,
                                                             Batch& batch);
  [[gnu::always_inline]] static inline double parse_value(std::string_view line, const char*& at, DelimiterWalk& walk,
                                                          std::string_view& text);
  [[gnu::always_inline]] inline std::uint64_t hash_of_name_space(std::string_view name) const;

  void take_name(FeatureHash feature, std::string_view name_space, std::string_view name);

  const ReadOptions& options_;
  FeatureHasher hasher_;
  std::array<std::uint64_t, 256> short_name_spaces_{};  // hashes of the names of one byte
  Interactions interactions_;
  Ngrams ngrams_;
  bool takes_names_ = false;  // whether n-grams or on_feature need the names of features
  Delimiters delimiters_{kVwDelimiters};
  std::string_view tag_;  // of the current line
};

// Parses the line up to its first bar.
VwParser::Header VwParser::parse_header(std::string_view line, const char* first_delimiter, const char* bar) const {
  Header parsed;
  const bool begins_with_quote = line.starts_with('\'');
  if (bar == first_delimiter + 1 && *first_delimiter != ':' && first_delimiter != line.data() && !begins_with_quote) {
    parsed.label = text_between(line.data(), first_delimiter);  // nearly always: a label, one blank, the bar
    require_known(line, parsed.label, options_);
    return parsed;
  }
  Tokens tokens(text_between(line.data(), bar));
  parsed.label = tokens.next();
  std::string_view token = tokens.next();
  if (parsed.label.starts_with('\'') && token.empty()) {
    parsed.tag = parsed.label.substr(1);
    parsed.label = {};
  }
  if (parsed.label.empty()) {
    if (options_.labels_required) reject(line, Tokens(line).next(), "a label");
    return parsed;
  }
  require_known(line, parsed.label, options_);
  bool has_importance = false;
  if (!token.empty() && token.front() != '\'') {
    const double importance = parse_decimal(token).value_or(-1);
    if (!(importance >= 0 && importance <= kMaxImportance)) reject(line, token, kImportanceExpected);
    parsed.importance = static_cast<float>(importance);
    has_importance = true;
    token = tokens.next();
  }
  if (token.starts_with('\'')) {
    parsed.tag = token.substr(1);
    token = tokens.next();
  } else if (has_importance && !token.empty() && token.data() + token.size() == bar) {
    parsed.tag = token;
    token = {};
  }
  if (!token.empty()) reject(line, token, "'|' or a 'tag");
  return parsed;
}

// Reads the number after the ':' at `at` and moves to its end.
double VwParser::parse_value(std::string_view line, const char*& at, DelimiterWalk& walk, std::string_view& text) {
  const char* first = at + 1;
  do at = walk.next();
  while (delimiter_at(line, at) == ':');
  text = text_between(first, at);
  const auto number = parse_decimal(text);
  if (!number) reject(line, text, "a number of at most 1e30 in size");
  return *number;
}

std::uint64_t VwParser::hash_of_name_space(std::string_view name) const {
  return name.size() == 1 ? short_name_spaces_[static_cast<unsigned char>(name[0])] : hasher_.name_space(name);
}

// Reads from after a '|' to the next one, or to the end of the line.
const char* VwParser::parse_name_space(std::string_view line, const char* at, DelimiterWalk& walk, Batch& batch) {
  std::string_view number_text;
  const char* first = at;
  at = walk.next();
  const std::string_view name_space = text_between(first, at);
  const double scale = delimiter_at(line, at) == ':' ? parse_value(line, at, walk, number_text) : 1;
  const std::uint64_t hash = hash_of_name_space(name_space);
  if (!interactions_.none()) interactions_.begin_name_space(name_space, batch);
  if (!ngrams_.none()) ngrams_.begin_name_space(name_space, hash, scale, false);
  for (char delimiter = delimiter_at(line, at); delimiter != '|'; delimiter = delimiter_at(line, at)) {
    first = at + 1;
    at = walk.next();
    const std::string_view name = text_between(first, at);
    double value = scale;
    if (delimiter_at(line, at) == ':') {
      value *= parse_value(line, at, walk, number_text);
      if (std::abs(value) > kMaxValue) reject(line, number_text, "a number of at most 1e30 in size once scaled");
    } else if (name.empty()) {
      continue;  // between two blanks
    }
    const FeatureHash feature = hash_name(name, hash);
    batch.add_feature(feature, static_cast<float>(value));
    if (takes_names_) take_name(feature, name_space, name);
  }
  if (ngrams_.collects()) ngrams_.end_name_space(batch, &interactions_);
  return at;
}

void VwParser::take_name(FeatureHash feature, std::string_view name_space, std::string_view name) {
  if (ngrams_.collects()) ngrams_.add_word(name);
  if (!options_.on_feature) return;
  options_.on_feature(feature, name_space, name);
  interactions_.add_name(name);
}

bool VwParser::parse(std::string_view line, const Origin& origin, Batch& batch) {
  DelimiterWalk walk = delimiters_.walk(line);
  const char* end = line.data() + line.size();
  const char* first_delimiter = walk.next();
  const char* bar = first_delimiter;
  while (delimiter_at(line, bar) != '|') bar = walk.next();
  tag_ = {};
  const Header header = parse_header(line, first_delimiter, bar);
  tag_ = header.tag;
  if (bar == end) reject(line, line.substr(line.size()), "'|' before the features");
  interactions_.begin_line();
  ngrams_.begin_line();
  takes_names_ = options_.on_feature != nullptr || !ngrams_.none();
  for (const char* at = bar; at != end;) at = parse_name_space(line, at + 1, walk, batch);
  if (header.importance == 0 && options_.weights_required) {
    batch.discard_example();
    return false;
  }
  if (!interactions_.none()) interactions_.add_crosses(batch);
  batch.finish_example(header.label, header.importance, origin);
  return true;
}

}  // namespace

std::unique_ptr<LineParser> make_vw_parser(const ReadOptions& options) { return std::make_unique<VwParser>(options); }

}  // namespace cpt
