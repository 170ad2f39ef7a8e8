#include "data/parsers/plain_parsers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>
#include <vector>

#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "data/format/read_options.h"
#include "data/parsers/line_parser.h"
#include "data/text/interactions.h"
#include "data/text/label_choice.h"
#include "data/text/tokens.h"

namespace cpt {
namespace {

class PlainVwParser : public LineParser {
 public:
  explicit PlainVwParser(const ReadOptions& options)
      : options_(options), hasher_(options.seed), interactions_(options) {}

  bool parse(std::string_view line, const Origin& origin, Batch& batch) override {
    line_ = line;
    at_ = std::min(line.find('|'), line.size());
    tag_ = {};
    const Header header = parse_header(line.substr(0, at_));
    tag_ = header.tag;
    if (at_ == line.size()) reject(line, line.substr(at_), "'|' before the features");
    interactions_.begin_line();
    while (at_ < line.size()) parse_name_space(batch);
    if (!interactions_.none()) interactions_.add_crosses(batch);
    if (header.importance == 0 && options_.weights_required) {
      batch.discard_example();
      return false;
    }
    batch.finish_example(header.label, header.importance, origin);
    return true;
  }
  std::string_view tag() const override { return tag_; }

 private:
  struct Header {
    std::string_view label;
    float importance = 1;
    std::string_view tag = {};
  };
  struct Item {
    std::string_view name;
    std::string_view number_text;
    double number = 1;
  };

  Header parse_header(std::string_view text) const {
    Header header;
    Tokens tokens(text);
    header.label = tokens.next();
    const bool is_last = Tokens(tokens).next().empty();
    if (is_last && header.label.starts_with('\'')) {
      header.tag = header.label.substr(1);
      header.label.remove_prefix(header.label.size());
    }
    if (header.label.empty()) {
      if (options_.labels_required) reject(line_, Tokens(line_).next(), "a label");
      return header;
    }
    require_known(line_, header.label, options_);
    std::string_view token = tokens.next();
    bool may_be_plain = false;  // a tag without a quote
    if (!token.empty() && token.front() != '\'') {
      const double importance = plain_number(token).value_or(-1);
      if (importance < 0 || importance > kMaxImportance) reject(line_, token, "an importance from 0 to 1e12");
      header.importance = static_cast<float>(importance);
      token = tokens.next();
      may_be_plain = token.data() + token.size() == text.data() + text.size();
    }
    if (!token.empty() && (token.front() == '\'' || may_be_plain)) {
      header.tag = token.substr(token.front() == '\'' ? 1 : 0);
      token = tokens.next();
    }
    if (!token.empty()) reject(line_, token, "'|' or a 'tag");
    return header;
  }

  void parse_name_space(Batch& batch) {
    ++at_;  // the bar
    const Item name_space = parse_item();
    const std::uint64_t hash = hasher_.name_space(name_space.name);
    if (!interactions_.none()) interactions_.begin_name_space(name_space.name, batch);
    while (true) {
      while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
      if (at_ == line_.size() || line_[at_] == '|') return;
      const Item item = parse_item();
      const double value = item.number * name_space.number;
      if (std::abs(value) > kMaxValue) reject(line_, item.number_text, "a number of at most 1e30 in size once scaled");
      const FeatureHash feature = hasher_.feature(hash, item.name);
      batch.add_feature(feature, static_cast<float>(value));
      if (options_.on_feature) {
        options_.on_feature(feature, name_space.name, item.name);
        interactions_.add_name(item.name);
      }
    }
  }

  std::string_view up_to(std::string_view ends) {
    const std::size_t first = at_;
    at_ = std::min(line_.find_first_of(ends, first), line_.size());
    return line_.substr(first, at_ - first);
  }

  Item parse_item() {
    Item item;
    item.name = up_to(" \t|:");
    if (at_ == line_.size() || line_[at_] != ':') return item;
    ++at_;
    item.number_text = up_to(" \t|");
    const auto number = plain_number(item.number_text);
    if (!number) reject(line_, item.number_text, "a number of at most 1e30 in size");
    item.number = *number;
    return item;
  }

  const ReadOptions& options_;
  FeatureHasher hasher_;
  Interactions interactions_;
  std::string_view line_;
  std::string_view tag_;
  std::size_t at_ = 0;
};

// With labels that LabelChoice handles, and features of the empty namespace.
class PlainLabelsParser : public LineParser {
 protected:
  explicit PlainLabelsParser(const ReadOptions& options) : options_(options), label_choice_(options) {}

  void add_feature(std::string_view name, float value, Batch& batch) const {
    const FeatureHasher hasher(options_.seed);
    const FeatureHash feature = hasher.feature(hasher.name_space(""), name);
    batch.add_feature(feature, value);
    if (options_.on_feature) options_.on_feature(feature, "", name);
  }

  const ReadOptions& options_;
  LabelChoice label_choice_;
};

class PlainLibsvmParser : public PlainLabelsParser {
 public:
  explicit PlainLibsvmParser(const ReadOptions& options) : PlainLabelsParser(options) {}

  bool parse(std::string_view line, const Origin& origin, Batch& batch) override {
    if (origin.line == 1 && is_xmc_header(line)) return false;
    Tokens tokens(line);
    std::string_view token = tokens.next();
    std::vector<std::string_view> labels;
    if (token.find(':') == std::string_view::npos) {
      labels = labels_of(line, token);
      token = tokens.next();
    }
    const std::string_view first = token;
    for (; !token.empty(); token = tokens.next()) parse_feature(line, token, batch);
    if (labels.empty() && options_.labels_required) {
      throw UnlabelledLine(static_cast<std::size_t>(first.data() - line.data()) + 1, "a label", quote(first));
    }
    label_choice_.finish(line, labels, origin, batch);
    return true;
  }

 private:
  static std::vector<std::string_view> labels_of(std::string_view line, std::string_view token) {
    std::vector<std::string_view> labels;
    for (std::size_t first = 0, comma = 0; comma < token.size(); first = comma + 1) {
      comma = std::min(token.find(',', first), token.size());
      if (comma == first) reject(line, token, "labels with one comma between them");
      labels.push_back(token.substr(first, comma - first));
    }
    if (token.back() == ',') reject(line, token, "labels with one comma between them");
    return labels;
  }

  void parse_feature(std::string_view line, std::string_view token, Batch& batch) const {
    const std::size_t colon = token.find(':');
    if (colon == std::string_view::npos) reject(line, token, "index:value");
    const std::string_view index = token.substr(0, colon);
    std::uint64_t number = 0;
    const auto [stop, failure] = std::from_chars(index.data(), index.data() + index.size(), number);
    if (failure != std::errc{} || stop != index.data() + index.size()) {
      reject(line, token, "an index that is an unsigned integer below 2^64");
    }
    const std::string_view text = token.substr(colon + 1);
    const auto value = plain_number(text);
    if (!value) reject(line, text, "a number of at most 1e30 in size");
    add_feature(std::to_string(number), static_cast<float>(*value), batch);
  }
};

class PlainFasttextParser : public PlainLabelsParser {
 public:
  explicit PlainFasttextParser(const ReadOptions& options) : PlainLabelsParser(options) {}

  bool parse(std::string_view line, const Origin& origin, Batch& batch) override {
    std::vector<std::string_view> labels;
    Tokens tokens(line);
    for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
      if (token.starts_with(kFasttextLabelPrefix)) {
        labels.push_back(token.substr(kFasttextLabelPrefix.size()));
        if (labels.back().empty()) reject(line, token, "a name after __label__");
        continue;
      }
      add_feature(token, 1.0F, batch);
    }
    label_choice_.finish(line, labels, origin, batch);
    return true;
  }
};

}  // namespace

std::optional<double> plain_number(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (stop != end || failure == std::errc::invalid_argument) return std::nullopt;
  if (failure == std::errc::result_out_of_range) number = std::strtod(std::string(text).c_str(), nullptr);
  if (!(std::abs(number) <= kMaxValue)) return std::nullopt;
  return number;
}

std::unique_ptr<LineParser> make_plain_parser(Format format, const ReadOptions& options) {
  if (format == Format::kVw) return std::make_unique<PlainVwParser>(options);
  if (format == Format::kLibsvm) return std::make_unique<PlainLibsvmParser>(options);
  return std::make_unique<PlainFasttextParser>(options);
}

}  // namespace cpt
