// The parsers of JSON objects and of CSV records read what plain readers read, which go byte after byte as one would
// first write them: the same label, importance and features, or nothing where those read nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpt/hashing.h"
#include "data/format/parse_error.h"
#include "data/parsers/plain_parsers.h"
#include "data/text/tokens.h"

namespace cpt {
namespace {

struct Feature {
  std::string name_space;
  std::string name;
  double value = 1;
};

struct Fields {
  std::vector<std::string> labels;
  float importance = 1;
  std::vector<Feature> features;
};

// Thrown by plain readers.
struct Malformed {};

void require(bool condition) {
  if (!condition) throw Malformed();
}

bool has_control(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) return true;
  }
  return false;
}

double checked_number(std::string_view text) {
  const std::optional<double> number = plain_number(text);
  require(number.has_value());
  return *number;
}

float checked_importance(double number) {
  require(number >= 0 && number <= kMaxImportance);
  return static_cast<float>(number);
}

enum class Kind { kNull, kTrue, kFalse, kNumber, kString, kArray, kObject };

// A JSON value. `text` is a string decoded, or a number as it is written.
struct Value {
  Kind kind = Kind::kNull;
  std::string text;
  std::vector<Value> elements;
  std::vector<std::pair<std::string, Value>> members;
};

// RFC 8259, of valid UTF-8.
class PlainJson {
 public:
  explicit PlainJson(std::string_view text) : text_(text) {}

  Value read_document() {
    check_utf8();
    skip_blanks();
    Value value = read_value();
    skip_blanks();
    require(at_ == text_.size());
    return value;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  void check_utf8() const {
    for (std::size_t i = 0; i < text_.size();) {
      const auto first = static_cast<unsigned char>(text_[i]);
      const std::size_t length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
      require(first < 0x80 || (first >= 0xc2 && first < 0xf5));
      require(i + length <= text_.size());
      std::uint32_t code = length == 1 ? first : first & (0x7fU >> length);
      for (std::size_t j = 1; j < length; ++j) {
        const auto next = static_cast<unsigned char>(text_[i + j]);
        require((next & 0xc0U) == 0x80);
        code = code << 6 | (next & 0x3fU);
      }
      require(length < 3 || code >= (length == 3 ? 0x800U : 0x10000U));
      require(code < 0x110000 && (code < 0xd800 || code > 0xdfff));
      i += length;
    }
  }

  Value read_value() {
    const char c = peek();
    if (c == '{') return read_object();
    if (c == '[') return read_array();
    if (c == '"') return {Kind::kString, read_string(), {}, {}};
    for (const auto& [word, kind] :
         {std::pair<std::string_view, Kind>{"true", Kind::kTrue}, {"false", Kind::kFalse}, {"null", Kind::kNull}}) {
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return {kind, kind == Kind::kNull ? "" : std::string(word), {}, {}};
      }
    }
    return {Kind::kNumber, read_number(), {}, {}};
  }

  Value read_object() {
    Value object{Kind::kObject, {}, {}, {}};
    require(take('{'));
    skip_blanks();
    if (take('}')) return object;
    do {
      skip_blanks();
      require(peek() == '"');
      std::string key = read_string();
      skip_blanks();
      require(take(':'));
      skip_blanks();
      object.members.emplace_back(std::move(key), read_value());
      skip_blanks();
    } while (take(','));
    require(take('}'));
    return object;
  }

  Value read_array() {
    Value array{Kind::kArray, {}, {}, {}};
    require(take('['));
    skip_blanks();
    if (take(']')) return array;
    do {
      skip_blanks();
      array.elements.push_back(read_value());
      skip_blanks();
    } while (take(','));
    require(take(']'));
    return array;
  }

  void read_digits() {
    require(peek() >= '0' && peek() <= '9');
    while (peek() >= '0' && peek() <= '9') ++at_;
  }

  std::string read_number() {
    const std::size_t first = at_;
    take('-');
    if (!take('0')) read_digits();
    if (take('.')) read_digits();
    if (take('e') || take('E')) {
      if (!take('+')) take('-');
      read_digits();
    }
    return std::string(text_.substr(first, at_ - first));
  }

  std::uint32_t read_hex() {
    std::uint32_t code = 0;
    for (int i = 0; i < 4; ++i) {
      const std::size_t digit = std::string_view("0123456789abcdef0123456789ABCDEF").find(peek());
      require(at_ < text_.size() && digit != std::string_view::npos);
      code = code << 4 | static_cast<std::uint32_t>(digit % 16);
      ++at_;
    }
    return code;
  }

  std::string read_escape() {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
    if (!take('u')) {
      const std::size_t which = kNames.find(peek());
      require(at_ < text_.size() && which != std::string_view::npos);
      ++at_;
      return std::string(1, kMeanings[which]);
    }
    std::uint32_t code = read_hex();
    require(code < 0xdc00 || code > 0xdfff);
    if (code >= 0xd800 && code < 0xdc00) {
      require(take('\\') && take('u'));
      const std::uint32_t low = read_hex();
      require(low >= 0xdc00 && low <= 0xdfff);
      code = 0x10000 + ((code - 0xd800) << 10 | (low - 0xdc00));
    }
    const auto tail = [code](unsigned shift) { return static_cast<char>(0x80U | (code >> shift & 0x3fU)); };
    if (code < 0x80) return {static_cast<char>(code)};
    if (code < 0x800) return {static_cast<char>(0xc0U | code >> 6), tail(0)};
    if (code < 0x10000) return {static_cast<char>(0xe0U | code >> 12), tail(6), tail(0)};
    return {static_cast<char>(0xf0U | code >> 18), tail(12), tail(6), tail(0)};
  }

  std::string read_string() {
    std::string text;
    require(take('"'));
    while (!take('"')) {
      require(at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x20);
      if (take('\\')) {
        text += read_escape();
      } else {
        text += text_[at_++];
      }
    }
    return text;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// What data/README.md says of the keys of a JSON object.
class JsonFields {
 public:
  JsonFields(const Value& object, const FieldRoles& roles) : roles_(roles) {
    require(object.kind == Kind::kObject);
    read_object(object, "", 1);
    require(!fields_.labels.empty());
  }
  const Fields& fields() const { return fields_; }

 private:
  static bool is_in(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }
  // Of anything but arrays and objects.
  static std::string scalar(const Value& value) {
    require(value.kind != Kind::kArray && value.kind != Kind::kObject);
    if (value.kind == Kind::kNumber) checked_number(value.text);
    return value.text;
  }

  void read_object(const Value& object, const std::string& path, int depth) {
    require(depth <= 16);
    for (const auto& [key, value] : object.members) {
      if (depth == 1 && key == roles_.label) {
        require(!std::exchange(has_label_, true));
        read_labels(value);
        continue;
      }
      if (depth == 1 && key == roles_.importance) {
        require(!std::exchange(has_importance_, true) && (value.kind == Kind::kNumber || value.kind == Kind::kNull));
        if (value.kind == Kind::kNumber) fields_.importance = checked_importance(checked_number(value.text));
        continue;
      }
      const std::string inner = path.empty() ? key : path + "." + key;
      if (is_in(roles_.text, inner)) {
        read_text(inner, value);
      } else if (value.kind == Kind::kObject) {
        read_object(value, inner, depth + 1);
      } else if (value.kind == Kind::kArray) {
        for (const Value& element : value.elements) {
          const std::string word = scalar(element);
          if (element.kind != Kind::kNull) add(inner, word);
        }
      } else if (value.kind == Kind::kNumber && !is_in(roles_.categorical, inner)) {
        add(path, key, checked_number(value.text));
      } else if (value.kind != Kind::kNull) {
        add(path, key + "=" + scalar(value));
      }
    }
  }

  void read_labels(const Value& value) {
    if (value.kind == Kind::kArray) {
      for (const Value& element : value.elements) {
        require(element.kind != Kind::kArray);
        read_labels(element);
      }
      return;
    }
    const std::string label = scalar(value);
    require(!has_control(label));
    if (!label.empty()) fields_.labels.push_back(label);
  }

  void read_text(const std::string& name_space, const Value& value) {
    if (value.kind == Kind::kArray) {
      for (const Value& element : value.elements) {
        require(element.kind != Kind::kArray);
        read_text(name_space, element);
      }
      return;
    }
    require(value.kind == Kind::kString || value.kind == Kind::kNull);
    for_each_word(value.text, [&](std::string_view word) { add(name_space, std::string(word)); });
  }

  void add(const std::string& name_space, const std::string& name, double value = 1) {
    fields_.features.push_back({name_space, name, value});
  }

  const FieldRoles& roles_;
  Fields fields_;
  bool has_label_ = false;
  bool has_importance_ = false;
};

// RFC 4180, of one record.
std::vector<std::string> plain_record(std::string_view record, char separator) {
  std::vector<std::string> fields;
  for (std::size_t i = 0;; ++i) {
    std::string field;
    if (i < record.size() && record[i] == '"') {
      for (++i;; ++i) {
        require(i < record.size());
        if (record[i] == '"' && (++i == record.size() || record[i] != '"')) break;
        field += record[i];
      }
      require(i == record.size() || record[i] == separator);
    } else {
      for (; i < record.size() && record[i] != separator; ++i) field += record[i];
    }
    fields.push_back(field);
    if (i == record.size()) return fields;
  }
}

Fields plain_csv(const std::vector<std::string>& columns, std::string_view line, const FieldRoles& roles) {
  const std::vector<std::string> values = plain_record(line, ',');
  require(values.size() == columns.size());
  Fields fields;
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::string& name = columns[i];
    const std::string& text = values[i];
    if (text.empty() || is_in(roles.ignored, name)) continue;
    if (name == roles.label) {
      require(!has_control(text));
      fields.labels = {text};
    } else if (name == roles.importance) {
      fields.importance = checked_importance(checked_number(text));
    } else if (is_in(roles.text, name)) {
      for_each_word(text, [&](std::string_view word) { fields.features.push_back({name, std::string(word)}); });
    } else if (const auto number = plain_number(text); number && !is_in(roles.categorical, name)) {
      fields.features.push_back({name, name, *number});
    } else {
      fields.features.push_back({name, name + "=" + text});
    }
  }
  require(!fields.labels.empty());
  return fields;
}

// In words. Features that meet add up, and one of value 0 is none.
std::string text_of(std::string_view label, float importance, const std::map<FeatureHash, float>& sums) {
  std::string text = std::string(label) + " " + std::to_string(std::bit_cast<std::uint32_t>(importance));
  for (const auto& [hash, value] : sums) {
    if (value != 0) text += " " + std::to_string(hash) + ":" + std::to_string(std::bit_cast<std::uint32_t>(value));
  }
  return text;
}

std::string text_of(const Fields& fields) {
  const FeatureHasher hasher(ReadOptions{}.seed);
  std::map<FeatureHash, float> sums{{kConstantFeature, 1.0F}};
  for (const Feature& feature : fields.features) {
    sums[hasher.feature(hasher.name_space(feature.name_space), feature.name)] += static_cast<float>(feature.value);
  }
  return text_of(fields.labels.front(), fields.importance, sums);
}

std::string fast_text(LineParser& parser, std::string_view line) {
  const std::vector<char> exact(line.begin(), line.end());  // so that a sanitizer sees whoever reads beyond
  Batch batch;
  try {
    if (!parser.parse({exact.data(), exact.size()}, {3, 4, 5, 6, 7}, batch)) return "no example";
  } catch (const ParseError&) {
    return "malformed";
  }
  const ExampleView x = batch[0];
  std::map<FeatureHash, float> sums;
  for (std::size_t f = 0; f < x.features.size(); ++f) sums[x.features[f]] += x.values[f];
  return text_of(x.label, x.importance, sums);
}

template <class Read>
std::string plain_text(Read read) {
  try {
    return text_of(read());
  } catch (const Malformed&) {
    return "malformed";
  }
}

// What became of lines, to see that there were enough of both kinds.
struct Count {
  int good = 0;
  int malformed = 0;
  void add(const std::string& verdict) { ++(verdict == "malformed" ? malformed : good); }
};

// Calls visit() with the lines, and with each of them with one byte left out, put in, or in the place of another.
template <class Visit>
void for_each_changed(const std::vector<std::string>& lines, std::string_view alphabet, Visit visit) {
  for (const std::string& line : lines) {
    visit(line);
    for (std::size_t i = 0; i < line.size(); ++i) {
      visit(line.substr(0, i) + line.substr(i + 1));
      for (const char byte : alphabet) {
        visit(line.substr(0, i) + byte + line.substr(i));
        visit(line.substr(0, i) + byte + line.substr(i + 1));
      }
    }
  }
}

const std::vector<std::string> kObjects = {
    R"({"label": "a", "size": 0.5, "color": "red", "new": true, "none": null, "tags": ["b", 7, false, null]})",
    R"({"label": ["x", 12, true], "weight": 2.5e0, "page": {"user": {"age": -2}, "text": "some words  there"}})",
    R"({"size": 1E2, "text": ["one two", null, "three"], "kind": -0.50, "label": "\u00e9\n\ud83d\ude00\\\/", "": {"": 0}})",
    "{\"label\":\"\xc3\xa9\",\t\"a\\\"b\":\"\xf0\x9f\x98\x80\"}",
};

TEST(PlainFields, AreThoseOfTheJsonParser) {
  ReadOptions options;
  options.fields = {.label = "label", .importance = "weight", .text = {"text", "page.text"}, .categorical = {"kind"}};
  const std::unique_ptr<LineParser> parser = make_line_parser(Format::kJson, options);
  Count count;
  for_each_changed(kObjects, "{}[]\",:\\/ \t.-+0159eEutn\x01\x7f\xc3\xed\xa9#", [&](const std::string& line) {
    if (is_blank_line(line)) return;  // never parsed
    const std::string expected =
        plain_text([&] { return JsonFields(PlainJson(line).read_document(), options.fields).fields(); });
    ASSERT_EQ(fast_text(*parser, line), expected) << line;
    count.add(expected);
  });
  EXPECT_GT(count.good, 3000);
  EXPECT_GT(count.malformed, 5000);
}

TEST(PlainFields, AreThoseOfTheCsvParser) {
  ReadOptions options;
  options.fields = {.label = "l", .importance = "w", .text = {"text"}, .categorical = {"kind"}, .ignored = {"ignored"}};
  const std::unique_ptr<LineParser> parser = make_csv_parser("l,w,size,text,kind,ignored,b", options);
  const std::vector<std::string> columns = {"l", "w", "size", "text", "kind", "ignored", "b"};
  const std::vector<std::string> lines = {"a,1,0.5,two words,7,x,", R"("a,b","2.5",-1e-3,"said ""no"" ,",k,"",true)",
                                          "\xc3\xa9,,,,,,", R"("x","1","2","3","4","5","6")"};
  Count count;
  for_each_changed(lines, "\",;\n\r \t.-+0159eEx\x01\xc3", [&](const std::string& line) {
    if (is_blank_line(line)) return;
    const std::string expected = plain_text([&] { return plain_csv(columns, line, options.fields); });
    ASSERT_EQ(fast_text(*parser, line), expected) << line;
    count.add(expected);
  });
  EXPECT_GT(count.good, 1000);
  EXPECT_GT(count.malformed, 1000);
}

}  // namespace
}  // namespace cpt
