#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/hashing/name_hash.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "data/parsers/line_parser.h"
#include "data/parsers/roles_by_name.h"
#include "data/text/interactions.h"
#include "data/text/label_choice.h"
#include "data/text/ngrams.h"
#include "data/text/tokens.h"

namespace cpt {
namespace {

namespace json = simdjson::ondemand;

constexpr std::size_t kMostDepth = 16;  // of objects: more would be a mistake, and each takes some stack
constexpr std::size_t kKeysShown = 20;
constexpr std::string_view kJsonBlanks = " \t\r\n";

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

// The offset of the first byte that is not UTF-8; the size if there is none.
std::size_t broken_utf8(std::string_view line) {
  for (std::size_t first = 0, next = 0; first < line.size(); first = next) {
    next = first + 1;
    while (next < line.size() && (static_cast<unsigned char>(line[next]) & 0xc0U) == 0x80) ++next;
    if (!simdjson::validate_utf8(line.data() + first, next - first)) return first;
  }
  return line.size();
}

// The first control character in a string, or else the quote that opens a string without an end.
std::size_t broken_string(std::string_view line) {
  std::size_t opened = line.size();
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool inside = opened != line.size();
    if (inside && is_control(line[i])) return i;
    if (inside && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      opened = inside ? line.size() : i;
    }
  }
  return opened;
}

std::string_view trimmed(std::string_view token) { return token.substr(0, token.find_last_not_of(kJsonBlanks) + 1); }

class JsonParser : public LineParser {
 public:
  explicit JsonParser(const ReadOptions& options)
      : options_(options),
        hasher_(options.seed),
        roles_(options.fields),
        interactions_(options),
        ngrams_(options),
        label_choice_(options) {}
  bool parse(std::string_view line, const Origin& origin, Batch& batch) override;

 private:
  [[noreturn]] void fail(simdjson::error_code code, const char* at) const;
  [[noreturn]] void reject_unlabelled();
  void read_object(json::object object, const std::string& path, std::size_t depth, Batch& batch);
  bool read_special(std::string_view key, json::value& value);
  void read_labels(json::value& value);
  void read_label(json::value& value);
  void read_importance(json::value& value);
  void read_feature(std::string_view name_space, std::string_view key, json::value& value, Batch& batch,
                    bool is_category = false);
  void read_bag(std::string_view name_space, json::array array, Batch& batch);
  void read_text(std::string_view name_space, json::value& value, Batch& batch);
  double number(json::value& value) const;
  std::string_view scalar(json::value& value) const;
  void begin_name_space(std::string_view name, const Batch& batch, bool is_text = false);
  void end_name_space(Batch& batch);
  void add(std::string_view name_space, std::string_view name, double value, Batch& batch);

  const ReadOptions& options_;
  FeatureHasher hasher_;
  RolesByName roles_;
  Interactions interactions_;
  Ngrams ngrams_;
  LabelChoice label_choice_;
  json::parser parser_;
  std::string padded_;     // the line, and the bytes after it that simdjson may read
  std::string_view line_;  // within padded_
  std::uint64_t name_space_hash_ = 0;
  std::string pair_;               // "key=value"
  std::deque<std::string> names_;  // of features, for interactions; only under ReadOptions::on_feature
  std::vector<std::string_view> labels_;
  std::vector<std::string_view> places_;  // of the labels
  bool has_labels_ = false;
  bool has_importance_ = false;
  float importance_ = 1;
};

bool JsonParser::parse(std::string_view line, const Origin& origin, Batch& batch) {
  padded_.resize(std::max(padded_.size(), line.size() + simdjson::SIMDJSON_PADDING));
  std::memcpy(padded_.data(), line.data(), line.size());
  std::memset(padded_.data() + line.size(), ' ', simdjson::SIMDJSON_PADDING);
  line_ = std::string_view(padded_).substr(0, line.size());
  labels_.clear();
  places_.clear();
  names_.clear();
  has_labels_ = has_importance_ = false;
  importance_ = 1;
  interactions_.begin_line();
  ngrams_.begin_line();
  json::document document;
  const char* at = nullptr;
  try {
    document = parser_.iterate(padded_.data(), line.size(), padded_.size());
    at = line_.data();
    if (document.type() != json::json_type::object) {
      reject(line_, line_,
             is_json_array(line) ? "a JSON object (" + std::string(kOneObjectALine) + ")" : "a JSON object");
    }
    read_object(document.get_object(), "", 1, batch);
    const char* rest = nullptr;
    if (document.current_location().get(rest) == simdjson::SUCCESS) fail(simdjson::TRAILING_CONTENT, rest);
  } catch (const simdjson::simdjson_error& error) {
    if (at != nullptr && document.current_location().get(at) != simdjson::SUCCESS) at = line_.data() + line_.size();
    fail(error.error(), at);
  }
  if (labels_.empty() && options_.labels_required) {
    reject_unlabelled();
  }
  if (importance_ == 0 && options_.weights_required) {
    batch.discard_example();
    return false;
  }
  if (!interactions_.none()) interactions_.add_crosses(batch);
  return label_choice_.finish(line_, {labels_, places_, importance_}, origin, batch);
}

// `at`: where reading stopped; null if it did not begin.
void JsonParser::fail(simdjson::error_code code, const char* at) const {
  const auto from = [this](std::size_t offset) { return line_.substr(std::min(offset, line_.size())); };
  if (code == simdjson::UTF8_ERROR) reject(line_, from(broken_utf8(line_)), "UTF-8");
  if (at == nullptr) {
    const std::string_view rest = from(broken_string(line_));
    const bool is_open = rest.starts_with('"');
    reject(line_, rest, is_open ? "a string with a closing quote" : "no control character in a string");
  }
  const std::string_view last = from(line_.find_last_not_of(kJsonBlanks)).substr(0, 1);
  if (code == simdjson::INCOMPLETE_ARRAY_OR_OBJECT && last != "}") reject(line_, last, "'}' at the end of the line");
  reject(line_, from(static_cast<std::size_t>(at - line_.data())), "well-formed JSON");
}

// Reads the line again, for its keys.
void JsonParser::reject_unlabelled() {
  const std::string expected = "a label with the key " + quote(options_.fields.label);
  if (has_labels_) throw ParseError(1, expected, "none");
  std::string keys;
  std::size_t count = 0;
  json::document document = parser_.iterate(padded_.data(), line_.size(), padded_.size());
  for (auto result : document.get_object()) {
    const std::string_view key = result.unescaped_key();
    if (++count <= kKeysShown) keys += (count == 1 ? "the keys " : ", ") + quote(key);
  }
  if (count > kKeysShown) keys += " and " + std::to_string(count - kKeysShown) + " more";
  const char* const advice = options_.is_of_model ? "" : " (choose another with --label-key)";
  throw ParseError(1, expected + advice, keys.empty() ? "no key" : keys);
}

void JsonParser::read_object(json::object object, const std::string& path, std::size_t depth, Batch& batch) {
  for (auto result : object) {
    const std::string_view key = result.unescaped_key();
    json::value value = result.value();
    if (depth == 1 && read_special(key, value)) continue;
    const json::json_type type = value.type();
    if (type != json::json_type::object && type != json::json_type::array && !roles_.has_feature_roles()) {
      read_feature(path, key, value, batch);
      continue;
    }
    const std::string inner = path.empty() ? std::string(key) : path + "." + std::string(key);
    const FieldRole role = roles_.of(inner);
    if (role != FieldRole::kOther && options_.on_named_key) options_.on_named_key(inner);
    if (role == FieldRole::kIgnored) continue;
    if (role == FieldRole::kText) {
      read_text(inner, value, batch);
    } else if (type == json::json_type::object) {
      if (depth == kMostDepth) {
        reject(line_, trimmed(value.raw_json_token()),
               "at most " + std::to_string(kMostDepth) + " objects inside one another");
      }
      read_object(value.get_object(), inner, depth + 1, batch);
    } else if (type == json::json_type::array) {
      read_bag(inner, value.get_array(), batch);
    } else {
      read_feature(path, key, value, batch, role == FieldRole::kCategory);
    }
  }
}

// Reads the value of the label or the importance; false if the key is neither.
bool JsonParser::read_special(std::string_view key, json::value& value) {
  if (key == options_.fields.label) {
    read_labels(value);
    return true;
  }
  if (options_.fields.importance.empty() || key != options_.fields.importance) return false;
  if (options_.on_named_key) options_.on_named_key(key);
  read_importance(value);
  return true;
}

void JsonParser::read_labels(json::value& value) {
  if (std::exchange(has_labels_, true)) {
    reject(line_, trimmed(value.raw_json_token()), "the key " + quote(options_.fields.label) + " once");
  }
  if (value.type() != json::json_type::array) return read_label(value);
  for (auto result : value.get_array()) {
    json::value element = result.value();
    read_label(element);
  }
}

void JsonParser::read_label(json::value& value) {
  const std::string_view place = trimmed(value.raw_json_token());
  const json::json_type type = value.type();
  if (type == json::json_type::object || type == json::json_type::array) {
    reject(line_, place, "a label that is a string, a number or a boolean");
  }
  const std::string_view label = scalar(value);
  if (label.empty()) return;
  if (has_control_character(label)) reject(line_, place, kPrintableLabelExpected);
  labels_.push_back(label);
  places_.push_back(place);
}

void JsonParser::read_importance(json::value& value) {
  const std::string_view place = trimmed(value.raw_json_token());
  if (std::exchange(has_importance_, true)) {
    reject(line_, place, "the key " + quote(options_.fields.importance) + " once");
  }
  const json::json_type type = value.type();
  if (type == json::json_type::null) return static_cast<void>(scalar(value));
  if (type != json::json_type::number) reject(line_, place, kImportanceExpected);
  const double importance = number(value);
  if (!(importance >= 0 && importance <= kMaxImportance)) reject(line_, place, kImportanceExpected);
  importance_ = static_cast<float>(importance);
}

// Reads a key whose value is neither an object nor an array.
void JsonParser::read_feature(std::string_view name_space, std::string_view key, json::value& value, Batch& batch,
                              bool is_category) {
  const json::json_type type = value.type();
  if (type == json::json_type::null) return static_cast<void>(scalar(value));
  begin_name_space(name_space, batch);
  if (type == json::json_type::number && !is_category) return add(name_space, key, number(value), batch);
  pair_.assign(key).append("=").append(scalar(value));
  add(name_space, pair_, 1, batch);
}

void JsonParser::read_bag(std::string_view name_space, json::array array, Batch& batch) {
  begin_name_space(name_space, batch);
  for (auto result : array) {
    json::value element = result.value();
    const json::json_type type = element.type();
    if (type == json::json_type::object || type == json::json_type::array) {
      reject(line_, trimmed(element.raw_json_token()), "only strings, numbers and booleans in an array");
    }
    const std::string_view word = scalar(element);
    if (type != json::json_type::null) add(name_space, word, 1, batch);
  }
  end_name_space(batch);
}

void JsonParser::read_text(std::string_view name_space, json::value& value, Batch& batch) {
  const auto read = [&](json::value& text) {
    const json::json_type type = text.type();
    if (type != json::json_type::string && type != json::json_type::null) {
      reject(line_, trimmed(text.raw_json_token()), "text: a string, or an array of strings");
    }
    for_each_word(scalar(text), [&](std::string_view word) { add(name_space, word, 1, batch); });
  };
  begin_name_space(name_space, batch, true);
  if (value.type() == json::json_type::array) {
    for (auto result : value.get_array()) {
      json::value element = result.value();
      read(element);
    }
  } else {
    read(value);
  }
  end_name_space(batch);
}

double JsonParser::number(json::value& value) const {
  const std::string_view place = trimmed(value.raw_json_token());
  double number = 0;
  if (value.get_double().get(number) != simdjson::SUCCESS || std::abs(number) > kMaxValue) {
    reject(line_, place, "a number of at most 1e30 in size");
  }
  return number;
}

// The text of a string, or a number or boolean as it is written; empty for null.
std::string_view JsonParser::scalar(json::value& value) const {
  const json::json_type type = value.type();
  if (type == json::json_type::string) return value.get_string();
  const std::string_view written = trimmed(value.raw_json_token());
  if (type == json::json_type::number) {
    number(value);
    return written;
  }
  if (type == json::json_type::boolean) return value.get_bool() ? "true" : "false";
  if (!value.is_null()) reject(line_, written, "well-formed JSON");
  return {};
}

void JsonParser::begin_name_space(std::string_view name, const Batch& batch, bool is_text) {
  name_space_hash_ = hasher_.name_space(name);
  if (!interactions_.none()) interactions_.begin_name_space(name, batch);
  if (!ngrams_.none()) ngrams_.begin_name_space(name, name_space_hash_, 1, is_text);
}

void JsonParser::end_name_space(Batch& batch) {
  if (ngrams_.collects()) ngrams_.end_name_space(batch, &interactions_);
}

void JsonParser::add(std::string_view name_space, std::string_view name, double value, Batch& batch) {
  const FeatureHash feature = hash_name(name, name_space_hash_);
  batch.add_feature(feature, static_cast<float>(value));
  if (ngrams_.collects()) ngrams_.add_word(name);
  if (!options_.on_feature) return;
  options_.on_feature(feature, name_space, name);
  interactions_.add_name(names_.emplace_back(name));
}

}  // namespace

std::unique_ptr<LineParser> make_json_parser(const ReadOptions& options) {
  return std::make_unique<JsonParser>(options);
}

}  // namespace cpt
