// What the records of a table give, and where they are wrong.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpt/error.h"
#include "data/format/parse_error.h"
#include "data/parsers/csv_record.h"
#include "data/parsers/line_parser.h"
#include "data/reading.h"

namespace cpt {
namespace {

std::vector<std::string> fields_of(std::string_view record, char separator = ',') {
  CsvRecord records(separator);
  std::vector<std::string> texts;
  for (const CsvField& field : records.split(record)) texts.emplace_back(field.text);
  return texts;
}

Read csv(std::string_view header, std::string_view record, const ReadOptions& options = {}) {
  Batch batch(options.normalize);
  EXPECT_TRUE(make_csv_parser(header, options)->parse(record, {0, 7}, batch));
  return copies_of(batch).at(0);
}

// "column: reason" of a bad record.
std::string refused(std::string_view header, std::string_view record, const ReadOptions& options = {}) {
  const auto parser = make_csv_parser(header, options);
  Batch batch;
  try {
    parser->parse(record, {0, 7}, batch);
  } catch (const ParseError& error) {
    return std::to_string(error.column()) + ": " + error.what();
  }
  return "";
}

TEST(CsvRecord, SplitsAsRfc4180Says) {
  using Texts = std::vector<std::string>;
  const std::vector<std::pair<std::string, Texts>> records = {
      {"a,b,c", {"a", "b", "c"}},
      {"", {""}},
      {",", {"", ""}},
      {"a,", {"a", ""}},
      {R"("a,b","",c)", {"a,b", "", "c"}},
      {R"("a ""b""",""""," c ")", {"a \"b\"", "\"", " c "}},
      {"\"two\nlines\",x", {"two\nlines", "x"}},
      {R"( "a",b"c)", {" \"a\"", "b\"c"}},  // a quote means something at the start of a field only
      {R"("""a""","b""")", {"\"a\"", "b\""}},
  };
  for (const auto& [record, texts] : records) EXPECT_EQ(fields_of(record), texts) << record;
  EXPECT_EQ(fields_of("a,b\t\"c\td\"", '\t'), (Texts{"a,b", "c\td"}));
}

TEST(CsvRecord, GoesOnWhereQuotesAreOpen) {
  EXPECT_FALSE(ends_within_quotes("a,b", ',', false));
  EXPECT_FALSE(ends_within_quotes(R"("a","b""c")", ',', false));
  EXPECT_FALSE(ends_within_quotes(R"(a"b,c)", ',', false));
  EXPECT_TRUE(ends_within_quotes(R"(a,"b)", ',', false));
  EXPECT_TRUE(ends_within_quotes(R"(a,"b"")", ',', false));
  EXPECT_TRUE(ends_within_quotes(R"(a,")", ',', false));
  EXPECT_TRUE(ends_within_quotes("b", ',', true));
  EXPECT_TRUE(ends_within_quotes(R"(b"",c)", ',', true));
  EXPECT_FALSE(ends_within_quotes(R"(b",c)", ',', true));
  EXPECT_TRUE(ends_within_quotes(R"(b","c)", ',', true));
  EXPECT_FALSE(ends_within_quotes("a\t\"b\"", '\t', false));
}

TEST(CsvParser, ReadsColumnsAsNamespaces) {
  EXPECT_EQ(csv("site,label,price,new", "a b,y,0.5,-1e2"),
            (Read{"y", features({{"site", "site=a b"}, {"price", "price", 0.5F}, {"new", "new", -100}}), 1, 0, 7}));
  EXPECT_EQ(csv("label\tsite\tx,y", "y\t\"a\"\"b\"\t7"),
            (Read{"y", features({{"site", "site=a\"b"}, {"x,y", "x,y", 7}}), 1, 0, 7}));
}

TEST(CsvParser, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(csv("label,a,b,c", "y,,\"\",0"), (Read{"y", {}, 1, 0, 7}));
  EXPECT_EQ(csv(",label,a", "17,y,x"), (Read{"y", features({{"a", "a=x"}}), 1, 0, 7})) << "a column without a name";
}

TEST(CsvParser, TakesWhatIsNoNumberAsCategory) {
  for (const char* text : {"7a", "nan", "inf", "1e31", " 7", "0x7", "1,5"}) {
    EXPECT_EQ(csv("label\tn", "y\t" + std::string(text)).x, features({{"n", "n=" + std::string(text)}})) << text;
  }
  const ReadOptions options = {.fields = {.categorical = {"n"}}};
  EXPECT_EQ(csv("label,n,m", "y,7,7", options).x, features({{"n", "n=7"}, {"m", "m", 7}}));
}

TEST(CsvParser, ReadsColumnsAsTheOptionsSay) {
  const ReadOptions options = {
      .fields = {.label = "ad", .importance = "w", .text = {"title"}, .ignored = {"id", "label"}}};
  EXPECT_EQ(csv("id,title,label,w,ad", "17,\" the\tplace\nthe \",z,2.5,y", options),
            (Read{"y", features({{"title", "the", 2}, {"title", "place"}}), 2.5F, 0, 7}));
  EXPECT_EQ(csv("id,title,label,w,ad", "17,,,,y", options), (Read{"y", {}, 1, 0, 7}));
}

TEST(CsvParser, CrossesColumns) {
  const ReadOptions options = {.interactions = {"sp"}};
  const FeatureHash cross = FeatureHasher::cross(hash_of({"site", "site=a"}), hash_of({"price", "price"}));
  EXPECT_EQ(csv("site,price,label", "a,2,y", options).x.at(cross), 2);
}

TEST(CsvParser, PassesOverImportanceZeroInTraining) {
  const ReadOptions options = {.fields = {.importance = "w"}, .weights_required = true};
  for (const char* record : {"y,0", "y,1e-50"}) {  // no float is so small
    Batch batch;
    EXPECT_FALSE(make_csv_parser("label,w", options)->parse(record, {0, 7}, batch)) << record;
    EXPECT_EQ(batch.size(), 0U) << record;
  }
}

TEST(CsvParser, TellsWhereARecordIsWrong) {
  const ReadOptions options = {.fields = {.importance = "w"}};
  EXPECT_EQ(refused("label,a", "y"), "2: expected 2 fields, as in the header, found 1");
  EXPECT_EQ(refused("label,a", "y,b,c,d"), "5: expected 2 fields, as in the header, found 4");
  EXPECT_EQ(refused("label,a", "y,\"b"), "3: expected a field with a closing quote, found '\"b'");
  EXPECT_EQ(refused("label,a", "y,\"b\"c"), "6: expected the end of a field after its closing quote, found 'c'");
  EXPECT_EQ(refused("label,a", ",b"), "1: expected a label in the column 'label', found none");
  EXPECT_EQ(refused("label,a", "\"y\nz\",b"), R"(1: expected a label without control characters, found '"y\x0az"')");
  EXPECT_EQ(refused("label,w", "y,-1", options), "3: expected an importance from 0 to 1e12, found '-1'");
  EXPECT_EQ(refused("label,w", "y,much", options), "3: expected an importance from 0 to 1e12, found 'much'");
}

TEST(CsvParser, RefusesAHeaderThatIsNone) {
  EXPECT_EQ(error_of(Fault::kBadData, [] { make_csv_parser("label,a,b,a", {}); }),
            "expected a column with a name of its own, found 'a'; --columns names those of a file without a header");
  EXPECT_EQ(error_of(Fault::kBadData, [] { make_csv_parser("label,\"a", {}); }),
            "expected a field with a closing quote, found '\"a'");
}

TEST(CsvParser, AsksForColumnsThatAreMissing) {
  const auto missing = [](FieldRoles roles, bool labels_required = true) {
    const ReadOptions options = {.fields = std::move(roles), .labels_required = labels_required};
    return error_of(Fault::kUsage, [&] { make_csv_parser("ad,page", options); });
  };
  const std::string found = ", found the columns 'ad', 'page'";
  EXPECT_EQ(missing({}),
            "expected the column 'label' (choose another with --label-column; --columns names "
            "those of a file without a header)" +
                found);
  EXPECT_EQ(missing({.label = "ad", .importance = "w"}), "expected the column 'w' (--importance-column)" + found);
  EXPECT_EQ(missing({.label = "ad", .text = {"t"}}), "expected the column 't' (--text-columns)" + found);
  EXPECT_EQ(missing({.label = "ad", .categorical = {"t"}}), "expected the column 't' (--categorical-columns)" + found);
  EXPECT_EQ(missing({.label = "ad", .ignored = {"t"}}), "") << "it is not needed";
  // Where nothing is learned, labels and importances may be missing.
  EXPECT_EQ(missing({.importance = "w"}, false), "");
  EXPECT_EQ(missing({.text = {"t"}}, false), "expected the column 't' (--text-columns)" + found);

  std::string header = "c0";
  for (int i = 1; i < 30; ++i) header += ",c" + std::to_string(i);
  EXPECT_TRUE(error_of(Fault::kUsage, [&] { make_csv_parser(header, {}); }).ends_with(", 'c18', 'c19' and 10 more"));
}

TEST(CsvParser, RefusesAColumnWithTwoMeanings) {
  for (const FieldRoles& roles :
       {FieldRoles{.label = "ad", .importance = "ad"}, FieldRoles{.label = "ad", .text = {"ad"}},
        FieldRoles{.text = {"ad"}, .categorical = {"ad"}}}) {
    const ReadOptions options = {.fields = roles};
    EXPECT_EQ(error_of(Fault::kUsage, [&] { make_csv_parser("label,ad", options); }),
              "the options of keys and columns must name different ones, but two of them name 'ad'");
  }
}

TEST(CsvParser, NamesItsFeatures) {
  std::vector<std::string> names;
  ReadOptions options = {.interactions = {"an"}, .fields = {.text = {"t"}}};
  options.on_feature = [&](FeatureHash, std::string_view name_space, std::string_view name) {
    names.push_back(std::string(name_space) + "^" + std::string(name));
  };
  csv("label,a,n,t", "y,b,2,two words", options);
  EXPECT_EQ(names, (std::vector<std::string>{"a^a=b", "n^n", "t^two", "t^words", "an^a=b*n"}));
}

}  // namespace
}  // namespace cpt
