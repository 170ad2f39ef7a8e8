// N-grams are the features that a line would have if its user had written them behind its words.
#include "data/text/ngrams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Words = std::vector<std::string>;

// Whether the line and the one with n-grams written out give the same example.
void expect_same(Format format, std::string_view line, const ReadOptions& with, std::string_view written,
                 ReadOptions plain = {}) {
  plain.fields = with.fields;
  plain.interactions = with.interactions;
  EXPECT_EQ(parse_one(format, line, with), parse_one(format, written, plain)) << line;
}

TEST(Ngrams, OfANamespaceAreItsWordsJoined) {
  expect_same(Format::kVw, "y |t a b c d", {.ngrams = {"t:3"}}, "y |t a b c d a^b b^c c^d a^b^c b^c^d");
  expect_same(Format::kVw, "y |t a b |u c d |t e f", {.ngrams = {"t:2"}}, "y |t a b a^b |u c d |t e f e^f");
  expect_same(Format::kVw, "y | a b |t c d", {.ngrams = {":2"}}, "y | a b a^b |t c d");
  expect_same(Format::kVw, "y |t a b |u c d", {.ngrams = {"t:2", "u:2"}}, "y |t a b a^b |u c d c^d");
  expect_same(Format::kVw, "y |t a a a", {.ngrams = {"t:2"}}, "y |t a a a a^a a^a");
}

TEST(Ngrams, OfFewWordsAreFewOrNone) {
  expect_same(Format::kVw, "y |t a b", {.ngrams = {"t:5"}}, "y |t a b a^b");
  expect_same(Format::kVw, "y |t a |t b |t", {.ngrams = {"t:2"}}, "y |t a |t b");
  expect_same(Format::kVw, "y |u a b", {.ngrams = {"t:2"}}, "y |u a b");
}

TEST(Ngrams, HaveTheValueOfAWordWithoutOne) {
  expect_same(Format::kVw, "y |t:2 a:3 b", {.ngrams = {"t:2"}}, "y |t:2 a:3 b a^b");
}

TEST(Ngrams, AreCrossedAsTheirNamespaceIs) {
  expect_same(Format::kVw, "y |t a b |u c", {.interactions = {"tu"}, .ngrams = {"t:2"}}, "y |t a b a^b |u c");
}

TEST(Ngrams, OfAllTextAreThoseOfFasttextLinesAndOfTextKeys) {
  expect_same(Format::kFasttext, "__label__y new york city", {.ngrams = {"2"}},
              "__label__y new york city new^york york^city");
  expect_same(Format::kFasttext, "__label__y new york", {.ngrams = {":2"}}, "__label__y new york new^york");
  expect_same(Format::kJson, R"({"label": "y", "title": "new york", "tags": ["a", "b"]})",
              {.ngrams = {"2"}, .fields = {.text = {"title"}}},
              R"({"label": "y", "title": "new york new^york", "tags": ["a", "b"]})");
  expect_same(Format::kJson, R"({"label": "y", "title": "a b c", "body": ["d", "e f"]})",
              {.ngrams = {"2", "title:3"}, .fields = {.text = {"title", "body"}}},
              R"({"label": "y", "title": "a b c a^b b^c a^b^c", "body": "d e f d^e e^f"})");
  expect_same(Format::kJson, R"({"label": "y", "tags": ["a", 7, "c"], "n": 1, "m": 2})", {.ngrams = {"tags:2", ":2"}},
              R"({"label": "y", "tags": ["a", 7, "c", "a^7", "7^c"], "n": 1, "m": 2})");
}

TEST(Ngrams, OfTablesAreThoseOfTextColumns) {
  const Folder folder;
  const std::string table = folder.write("a.csv", "label,title,n\ny,new york,1\n");
  const std::string written = folder.write("b.csv", "label,title,n\ny,new york new^york,1\n");
  const FieldRoles roles{.text = {"title"}};
  for (const char* const ngrams : {"2", "title:2"}) {
    EXPECT_EQ(read_all({table}, {.ngrams = {ngrams}, .fields = roles}), read_all({written}, {.fields = roles}));
  }
}

TEST(Ngrams, AreToldByName) {
  Words names;
  ReadOptions options{.interactions = {"tu"}, .ngrams = {"t:2"}};
  options.on_feature = [&](FeatureHash, std::string_view name_space, std::string_view name) {
    names.push_back(std::string(name_space) + " " + std::string(name));
  };
  parse_one(Format::kVw, "y |t a b |u c", options);
  EXPECT_THAT(names, ElementsAre("t a", "t b", "t a^b", "u c", "tu a*c", "tu b*c", "tu a^b*c"));
}

TEST(Ngrams, LeaveNothingToTheNextLine) {
  const ReadOptions options{.ngrams = {"t:2"}};
  const auto parser = make_line_parser(Format::kVw, options);
  Batch batch;
  parser->parse("y |t a b c", {}, batch);
  parser->parse("y |t d", {}, batch);
  EXPECT_EQ(copies_of(batch)[1].x, features({{"t", "d"}}));
}

TEST(Ngrams, AreRefusedWhereThereAreNoSuchWords) {
  const auto refusal = [](Format format, Words ngrams, FieldRoles roles = {}) {
    const ReadOptions options{.ngrams = std::move(ngrams), .fields = std::move(roles)};
    return error_of(Fault::kUsage, [&] { require_words(format, options); });
  };
  EXPECT_THAT(refusal(Format::kLibsvm, {"2"}), HasSubstr("--ngrams 2 needs words"));
  EXPECT_THAT(refusal(Format::kVw, {"t:2", "3"}), HasSubstr("--ngrams 3 is for text; of lines in vw format, name "));
  EXPECT_THAT(refusal(Format::kFasttext, {"t:2"}), HasSubstr("--ngrams t:2 needs namespaces"));
  EXPECT_THAT(refusal(Format::kJson, {"2"}), HasSubstr("--ngrams 2 is for text, and --text-keys names none"));
  EXPECT_THAT(refusal(Format::kCsv, {"t:2"}, {.text = {"u"}}), HasSubstr("'t' is none of --text-columns"));
  EXPECT_EQ(refusal(Format::kVw, {"t:2", ":3"}), "");
  EXPECT_EQ(refusal(Format::kFasttext, {"2"}), "");
  EXPECT_EQ(refusal(Format::kJson, {"t:2", "a:b:2"}), "");
}

TEST(Ngrams, AreWrittenAsANumberBehindANamespaceOrNone) {
  for (const char* const wrong : {"", "1", "9", "x", "t:", "t:1", "2x", "t:2 ", "-2", "2:t"}) {
    EXPECT_THAT(error_of(Fault::kUsage, [&] { parse_ngrams({wrong}); }), HasSubstr("--ngrams " + std::string(wrong)))
        << wrong;
  }
  EXPECT_THAT(error_of(Fault::kUsage, [] { parse_ngrams({"t:2", "t:3"}); }), HasSubstr("given twice"));
  EXPECT_THAT(error_of(Fault::kUsage, [] { parse_ngrams({"2", "3"}); }), HasSubstr("given twice"));
  EXPECT_EQ(parse_ngrams({"a:b:2"}).at(0).name_space, "a:b");
}

}  // namespace
}  // namespace cpt
