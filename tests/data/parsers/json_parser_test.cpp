// What a JSON line gives, and where it is wrong.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "cpt/error.h"
#include "data/folder.h"
#include "data/format/parse_error.h"
#include "data/parsers/line_parser.h"
#include "data/reading.h"

namespace cpt {
namespace {

Read json(std::string_view line, const ReadOptions& options = {}) { return parse_one(Format::kJson, line, options); }

struct JsonLine {
  std::string text;
  Features x;
};

ReadOptions with_text() { return {.fields = {.importance = "i", .text = {"t", "o.t"}}}; }

TEST(JsonParser, ReadsFeatures) {
  const std::vector<JsonLine> lines = {
      {R"({"label": "y"})", {}},
      {R"({"size": 0.5, "label": "y", "n": -1e2})", features({{"", "size", 0.5F}, {"", "n", -100}})},
      {R"({"label": "y", "s": "a b", "t": true, "f": false, "n": null, "e": ""})",
       features({{"", "s=a b"}, {"", "t=true"}, {"", "f=false"}, {"", "e="}})},
      {R"({"label": "y", "bag": ["a", 1, 1.0, true, null, "a"], "none": []})",
       features({{"bag", "a", 2}, {"bag", "1"}, {"bag", "1.0"}, {"bag", "true"}})},
      {R"({"label": "y", "o": {"n": 2, "s": "v", "in": {"n": 3}, "bag": ["w"], "last": 4}, "n": 5})",
       features({{"o", "n", 2}, {"o", "s=v"}, {"o.in", "n", 3}, {"o.bag", "w"}, {"o", "last", 4}, {"", "n", 5}})},
      {R"({"label": "y", "a\u00e9\n": 1, "s": "\"\ud83d\ude00"})", features({{"", "aé\n"}, {"", "s=\"\U0001F600"}})},
      {R"({"label": "y", "n": 1, "n": 2, "zero": 0})", features({{"", "n", 3}})},
      {" {\t\"label\":\"y\"\r , \"n\" : 1 } ", features({{"", "n"}})},
  };
  for (const JsonLine& line : lines) EXPECT_EQ(json(line.text), (Read{"y", line.x, 1, 0, 7})) << line.text;
}

TEST(JsonParser, SplitsTextIntoWords) {
  const Features words = features({{"t", "the", 2}, {"t", "place"}});
  EXPECT_EQ(json(R"({"label": "y", "t": " the\tplace\n\r\u000bthe\f "})", with_text()).x, words);
  EXPECT_EQ(json(R"({"label": "y", "t": ["the place", null, "the"]})", with_text()).x, words);
  EXPECT_EQ(json(R"({"label": "y", "o": {"t": "a b", "u": "a b"}})", with_text()).x,
            features({{"o.t", "a"}, {"o.t", "b"}, {"o", "u=a b"}}));
  EXPECT_EQ(json(R"({"label": "y", "t": null})", with_text()).x, Features{});
}

TEST(JsonParser, TakesNumbersAsNamesAndIgnoresKeysWhereItIsTold) {
  const ReadOptions options = {.fields = {.categorical = {"page", "o.n"}, .ignored = {"id", "o.in"}}};
  EXPECT_EQ(
      json(R"({"label": "y", "page": 7, "id": [[1]], "o": {"n": 1.0, "m": 2, "id": 3, "in": {"x": 1}}})", options).x,
      features({{"", "page=7"}, {"o", "n=1.0"}, {"o", "m", 2}, {"o", "id", 3}}));
}

TEST(JsonParser, ReadsLabelsAsTheyAreWritten) {
  for (const auto& [text, label] : std::vector<std::pair<std::string, std::string>>{
           {"7", "7"}, {"1.0", "1.0"}, {"true", "true"}, {R"("two words")", "two words"}, {R"("\u00e9")", "é"}}) {
    EXPECT_EQ(json("{\"label\": " + text + "}").label, label);
  }
  const ReadOptions options = {.fields = {.label = "class"}};
  EXPECT_EQ(json(R"({"class": "a", "label": "b"})", options), (Read{"a", features({{"", "label=b"}}), 1, 0, 7}));
}

TEST(JsonParser, TakesALineWithoutLabelWhereNoneIsRequired) {
  const ReadOptions options = {.labels_required = false};
  for (const char* line : {"{}", R"({"label": null})", R"({"label": ""})", R"({"label": []})"}) {
    EXPECT_EQ(json(line, options), (Read{"", {}, 1, 0, 7})) << line;
  }
}

TEST(JsonParser, ReadsSeveralLabelsAsMultilabelSays) {
  const std::string line = R"({"label": ["a", 2], "i": 3, "n": 1})";
  ReadOptions options = with_text();
  EXPECT_EQ(json(line, options), (Read{"a", features({{"", "n"}}), 3, 0, 7}));
  options.multilabel = MultiLabel::kSplit;
  const std::vector<Read> both = parse(Format::kJson, line, options);
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0], (Read{"a", features({{"", "n"}}), 1.5F, 0, 7}));
  EXPECT_EQ(both[1], (Read{"2", features({{"", "n"}}), 1.5F, 0, 7}));
}

TEST(JsonParser, ReadsTheImportance) {
  EXPECT_EQ(json(R"({"label": "y", "i": 2.5})", with_text()), (Read{"y", {}, 2.5F, 0, 7}));
  EXPECT_EQ(json(R"({"label": "y", "i": null})", with_text()).importance, 1);
  EXPECT_EQ(json(R"({"label": "y", "i": 2.5})").x, features({{"", "i", 2.5F}})) << "it has no key by default";
  ReadOptions learning = with_text();
  learning.weights_required = true;
  EXPECT_TRUE(parse(Format::kJson, R"({"label": "y", "i": 0, "n": 1})", learning).empty());
  EXPECT_TRUE(parse(Format::kJson, R"({"label": "y", "i": 1e-50, "n": 1})", learning).empty())
      << "no float is so small";
}

// The least importance above 0 cannot be divided.
TEST(JsonParser, PassesOverSharesOfImportanceThatAreZeroInTraining) {
  const std::string line = R"({"label": ["a", "b", "c"], "i": 1.4e-45})";
  ReadOptions options = with_text();
  options.multilabel = MultiLabel::kSplit;
  EXPECT_EQ(parse(Format::kJson, line, options).size(), 3U);
  options.weights_required = true;
  Batch batch;
  EXPECT_FALSE(make_line_parser(Format::kJson, options)->parse(line, {0, 7}, batch));
  EXPECT_EQ(batch.size(), 0U);
  EXPECT_EQ(batch.open_features(), 0U);
}

// The same features as a vw line are the same features, crosses included.
TEST(JsonParser, GivesWhatAVwLineGives) {
  ReadOptions options = {.interactions = {"oo", "ot"}, .fields = {.text = {"t"}}};
  EXPECT_EQ(json(R"({"label": "y", "o": {"a": 2, "s": "v"}, "n": 0.25, "t": "the place"})", options),
            parse_one(Format::kVw, "y |o a:2 s=v | n:0.25 |t the place", options));
  std::vector<std::string> names;
  options.on_feature = [&](FeatureHash, std::string_view name_space, std::string_view name) {
    names.push_back(std::string(name_space) + "^" + std::string(name));
  };
  json(R"({"label": "y", "o": {"a": 2, "s": "v"}, "n": 1})", options);
  ASSERT_EQ(names.size(), 4U);
  EXPECT_TRUE(names[3] == "oo^a*s=v" || names[3] == "oo^s=v*a") << names[3];
}

struct Wrong {
  std::string line;
  std::size_t column;
  std::string reason;
};

TEST(JsonParser, SaysWhereALineIsWrong) {
  const std::string deep = [] {
    std::string text;
    for (int i = 0; i < 17; ++i) text += "{\"a\":";
    return text + "1" + std::string(17, '}');
  }();
  const std::vector<Wrong> lines = {
      {"1", 1, "expected a JSON object, found '1'"},
      {"[1]", 1,
       "expected a JSON object (json is read as one object a line: jq -c '.[]' FILE makes such lines), found '[1]'"},
      {"[", 1,
       "expected a JSON object (json is read as one object a line: jq -c '.[]' FILE makes such lines), found '['"},
      {"{}", 1, "expected a label with the key 'label' (choose another with --label-key), found no key"},
      {R"({"n": {"m": 1}, "a\n": [2]})", 1,
       R"(expected a label with the key 'label' (choose another with --label-key), found the keys 'n', 'a\x0a')"},
      {R"({"n": 1, "label": null})", 1, "expected a label with the key 'label', found none"},
      {R"({"label": "a", "n": 1e31})", 21, "expected a number of at most 1e30 in size, found '1e31'"},
      {R"({"label": "a", "n": 01})", 21, "expected a number of at most 1e30 in size, found '01'"},
      {R"({"label": {"a": 1}})", 11, "expected a label that is a string, a number or a boolean, found '{'"},
      {R"({"label": "a\tb"})", 11, R"(expected a label without control characters, found '"a\tb"')"},
      {R"({"label": "a", "label": "b"})", 25, R"(expected the key 'label' once, found '"b"')"},
      {R"({"label": "a", "i": "2"})", 21, R"(expected an importance from 0 to 1e12, found '"2"')"},
      {R"({"label": "a", "i": -1})", 21, "expected an importance from 0 to 1e12, found '-1'"},
      {R"({"label": "a", "i": 1, "i": 1})", 29, "expected the key 'i' once, found '1'"},
      {R"({"label": "a", "bag": [[1]]})", 24, "expected only strings, numbers and booleans in an array, found '['"},
      {R"({"label": "a", "t": 3})", 21, "expected text: a string, or an array of strings, found '3'"},
      {deep, 81, "expected at most 16 objects inside one another, found '{'"},
      {R"({"label": "a)", 11, R"(expected a string with a closing quote, found '"a')"},
      {"{\"label\": \"a\tb\"}", 13, R"(expected no control character in a string, found '\tb"}')"},
      {"{\"label\": \"a\xff\"}", 13, R"(expected UTF-8, found '\xff"}')"},
      {R"({"label": "a"} x)", 16, "expected '}' at the end of the line, found 'x'"},
  };
  for (const Wrong& wrong : lines) {
    Batch batch;
    const ReadOptions options = with_text();
    try {
      make_line_parser(Format::kJson, options)->parse(wrong.line, {0, 7}, batch);
      ADD_FAILURE() << wrong.line << " was read";
    } catch (const ParseError& error) {
      EXPECT_EQ(error.what(), wrong.reason) << wrong.line;
      EXPECT_EQ(error.column(), wrong.column) << wrong.line;
    }
  }
}

TEST(JsonParser, RefusesWhatIsNotJson) {
  ReadOptions options = {.labels_required = false};
  const auto parser = make_line_parser(Format::kJson, options);
  for (const char* line : {"{",
                           "{\"a\"",
                           "{\"a\":",
                           "{\"a\":1",
                           "{\"a\":1,",
                           "{\"a\":1,}",
                           "{\"a\" 1}",
                           "{a:1}",
                           "{\"a\":tru}",
                           "{\"a\":nul}",
                           "{\"a\":+1}",
                           "{\"a\":1.}",
                           "{\"a\":.5}",
                           "{\"a\":NaN}",
                           "{\"a\":[1,]}",
                           "{\"a\":[1}",
                           "{\"a\":[1 2]}",
                           "{\"a\":1]",
                           "{}}",
                           "{} {}",
                           "{\"a\":\"\\x\"}",
                           "{\"a\":\"\\u12\"}",
                           "{\"label\":[1}",
                           "{\"label\":tru}",
                           "7",
                           "\"a\"",
                           "null"}) {
    Batch batch;
    EXPECT_THROW(parser->parse(line, {0, 7}, batch), ParseError) << line;
    batch.discard_example();
    EXPECT_TRUE(parser->parse("{\"a\":1}", {0, 8}, batch)) << "after " << line;
  }
}

TEST(JsonParser, RefusesOneKeyWithTwoMeanings) {
  for (const FieldRoles& roles : {FieldRoles{.label = "a", .importance = "a"}, FieldRoles{.label = "a", .text = {"a"}},
                                  FieldRoles{.importance = "a", .text = {"b", "a"}}}) {
    const ReadOptions options = {.fields = roles};
    EXPECT_EQ(error_of(Fault::kUsage, [&] { make_line_parser(Format::kJson, options); }),
              "the options of keys and columns must name different ones, but two of them name 'a'");
  }
}

TEST(JsonParser, RefusesUnknownLabelsAtTheirPlace) {
  const ReadOptions options = {.knows_label = [](std::string_view label) { return label == "é"; }};
  EXPECT_EQ(json(R"({"label": "\u00e9"})", options).label, "é");
  Batch batch;
  try {
    make_line_parser(Format::kJson, options)->parse(R"({"label": "\u00e8"})", {0, 7}, batch);
    ADD_FAILURE();
  } catch (const ParseError& error) {
    EXPECT_EQ(error.column(), 11U);
  }
}

TEST(JsonParser, IsChosenByContentAndReadsCrLf) {
  const Folder folder;
  const std::string path = folder.write("a", "\n{\"label\": \"a|b\", \"n\": 1}\r\n{\"label\": 2}");
  EXPECT_EQ(labels_of(read_all({path})), "a|b 2");
  const std::string bad = folder.write("b", "{\"label\": 1}\n{\"label\": x}\n");
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({bad}); }), bad + ":2:11: expected well-formed JSON, found 'x}'");
}

}  // namespace
}  // namespace cpt
