#include "data/parsers/line_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "data/folder.h"
#include "data/format/parse_error.h"
#include "data/reading.h"

namespace cpt {
namespace {

Read vw(std::string_view line, const ReadOptions& options = {}) { return parse_one(Format::kVw, line, options); }
Read libsvm(std::string_view line) { return parse_one(Format::kLibsvm, line); }

TEST(DetectFormat, LooksAtALine) {
  EXPECT_EQ(detect_format("__label__a b | c"), Format::kFasttext);
  for (const char* line : {"1 |f a", "1 1:1 |f a"}) EXPECT_EQ(detect_format(line), Format::kVw) << line;
  for (const char* line : {"1 3:0.5 4:1", "1,2 3:0.5", "3:0.5", "100 20 3"}) {
    EXPECT_EQ(detect_format(line), Format::kLibsvm) << line;
  }
  for (const char* line : {"{\"x\": 1}", " { \"a|b\": 1}", "{}", "{"})
    EXPECT_EQ(detect_format(line), Format::kJson) << line;
  EXPECT_EQ(detect_format("{x |f a"), Format::kVw);
  for (const char* line : {"hello world", "93", "1 2", "1 2 3 4", "a b:1", "1 3:1 word", "{a", "a,b,c"}) {
    EXPECT_EQ(detect_format(line), std::nullopt) << line;
  }
}

TEST(DetectFormat, TakesTheFirstLineOfEachShardThatIsNotBlank) {
  const Folder folder;
  const auto examples = read_all(
      {folder.write("a", "\n \t\r\nu |f a\n"), folder.write("b", "v 1:1\n"), folder.write("c", "__label__w x\n")});
  EXPECT_EQ(labels_of(examples), "u v w");
  EXPECT_EQ(labels_of(read_all({folder.write("a", "__label__a |f x\n")}, {.format = Format::kVw})), "__label__a")
      << "a format that is given is not detected";
}

TEST(DetectFormat, UnknownIsAnErrorEvenWhenSkipping) {
  const Folder folder;
  const std::string path = folder.write("a", "\nhello world\n");
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({path}, skipping()); }),
            path +
                ":2:1: expected a line in vw, libsvm, fasttext or json format, found 'hello world'; "
                "name the format with --format, such as --format csv for a table");
  ReadOptions advised = skipping();
  advised.format_advice = "; try json";
  EXPECT_THAT(error_of(Fault::kBadData, [&] { read_all({path}, advised); }), ::testing::EndsWith("table; try json"));
}

struct LineOfFormat {
  Format format;
  std::string text;
  Features x;
};

TEST(LineParser, ReadsFeatures) {
  const std::vector<LineOfFormat> lines = {
      {Format::kVw, "y |p 1=place 2=the |b:0.5 of place:4 |g the_place:-1e-1",
       features({{"p", "1=place"}, {"p", "2=the"}, {"b", "of", 0.5F}, {"b", "place", 2}, {"g", "the_place", -0.1F}})},
      {Format::kVw, "y | a b:2", features({{"", "a"}, {"", "b", 2}})},
      {Format::kVw, "y |:3 a", features({{"", "a", 3}})},
      {Format::kVw, "y ||p c", features({{"p", "c"}})},
      {Format::kVw, "y |", {}},
      {Format::kVw, "y |f :2 17 # é", features({{"f", "", 2}, {"f", "17"}, {"f", "#"}, {"f", "é"}})},
      {Format::kVw, "y |a 3 |b 3", features({{"a", "3"}, {"b", "3"}})},
      {Format::kVw, "y |f a:1e30 a:1e30", features({{"f", "a", 1e30F}})},
      {Format::kVw, "y |f a:-1e30 a:-1e30", features({{"f", "a", -1e30F}})},
      {Format::kLibsvm, "y 2148:0.134951\t3678:-2  9:+.5 ",
       features({{"", "2148", 0.134951F}, {"", "3678", -2}, {"", "9", 0.5F}})},
      {Format::kLibsvm, "y 007:2 0:1 000:1", features({{"", "7", 2}, {"", "0", 2}})},
      {Format::kLibsvm, "y 18446744073709551615:1", features({{"", "18446744073709551615"}})},
      {Format::kLibsvm, "y", {}},
      {Format::kFasttext, "__label__y buy now\tbuy 3:4 |x ",
       features({{"", "buy", 2}, {"", "now"}, {"", "3:4"}, {"", "|x"}})},
      {Format::kFasttext, "__label__y w __label__b", features({{"", "w"}})},
  };
  for (const LineOfFormat& line : lines) {
    EXPECT_EQ(parse_one(line.format, line.text), (Read{"y", line.x, 1, 0, 7})) << line.text;
  }
}

TEST(LineParser, ALabelMayBeMissingIfItIsNotRequired) {
  const std::vector<std::pair<Format, std::vector<std::pair<std::string, std::string>>>> lines = {
      {Format::kVw,
       {{"|f a", ""}, {"  |f a", ""}, {"'no_tag 1 |f a", "'no_tag"}, {"'no_tag '|f a", "'no_tag"}, {"y |f a", "y"}}},
      {Format::kLibsvm, {{"3:1", ""}, {"8 3:1", "8"}}},
      {Format::kFasttext, {{"buy now", ""}, {"__label__x buy", "x"}}}};
  const ReadOptions options{.labels_required = false};
  for (const auto& [format, labels] : lines) {
    for (const auto& [line, label] : labels) EXPECT_EQ(parse_one(format, line, options).label, label) << line;
  }
  for (const char* tagged : {"'tag|f a", "'|f a", "'tag |f a", " 'tag\t |f a", "' |f a"})
    EXPECT_EQ(vw(tagged, options), vw("|f a", options));
}

TEST(VwParser, EquivalentLinesGiveEqualExamples) {
  const Read plain = vw("y |a u:2 v |b w");
  for (const char* line : {"y |b w |a v u:2", "y |a u |b w |a u v", "\ty\t|a\tu:2\t v  |b\tw\t", "y|a u:2 v|b w",
                           "y 1 |a u:2 v |b w", "y +1e0 'tag|a u:2 v |b w", "y 'tag |a u:2 v |b w", "y '|a u:2 v |b w",
                           "  y |a:2 u v:.5 |b:1 w", "y |a u:2 v zero:0 |b w |c"}) {
    EXPECT_EQ(vw(line), plain) << line;
  }
}

TEST(VwParser, EveryTokenWithoutBlankOrBarIsALabel) {
  for (const char* label : {"7", "-1", ",", ":", "a:b", "twist's", "__label__x", "a,b", "\xc3\xa9", "#"}) {
    EXPECT_EQ(vw(std::string(label) + " |f a").label, label);
  }
  for (const char* label : {"'", "'quoted"}) EXPECT_EQ(vw(std::string(label) + " 1 |f a").label, label);
}

TEST(VwParser, ImportanceIsTheSecondToken) {
  for (const char* line : {"y 2.5 |f a", "y 2.5 'tag|f a", "y 2.5|f a"}) EXPECT_EQ(vw(line).importance, 2.5F) << line;
  EXPECT_EQ(vw("y 1e12 |f a").importance, 1e12F);
}

TEST(VwParser, ALineOfNoImportanceHoldsAnExampleUnlessWeightsAreRequired) {
  EXPECT_EQ(vw("y 0 |f a").importance, 0.0F);
  const Folder folder;
  const std::string path = folder.write("a", "u 0 |f a\nv |f a\n");
  EXPECT_EQ(labels_of(read_all({path})), "u v");
  EXPECT_EQ(labels_of(read_all({path}, {.weights_required = true})), "v");
}

TEST(VwParser, TagsAreQuotedOrTouchTheBarBehindAnImportance) {
  const std::vector<std::pair<std::string, std::string>> tags = {{"y 'a b|f a", "!"},
                                                                 {"y 1 'the_tag|f a", "the_tag"},
                                                                 {"y 'the_tag |f a", "the_tag"},
                                                                 {"'first|f a", "first"},
                                                                 {"'first |f a", "first"},
                                                                 {"'y 2 |f a", ""},
                                                                 {"'y 'the_tag |f a", "the_tag"},
                                                                 {"y|f a", ""},
                                                                 {"y 1.0 plain|f a", "plain"},
                                                                 {"y 0.5 7|f a", "7"},
                                                                 {"y 2|f a", ""},
                                                                 {"y '|f a", ""}};
  const ReadOptions options{.labels_required = false};
  const auto parser = make_line_parser(Format::kVw, options);
  for (const auto& [line, tag] : tags) {
    Batch batch;
    if (tag == "!") {
      EXPECT_THROW(parser->parse(line, {}, batch), ParseError) << line;
    } else {
      EXPECT_TRUE(parser->parse(line, {}, batch)) << line;
      EXPECT_EQ(parser->tag(), tag) << line;
    }
  }
}

TEST(VwParser, SeedChangesEveryHash) {
  EXPECT_EQ(vw("y |f a", {.seed = 2}).x, (Features{{hash_of({"f", "a"}, 2), 1.0F}}));
  EXPECT_NE(hash_of({"f", "a"}, 2), hash_of({"f", "a"}, 1));
}

TEST(VwParser, TellsOfFeaturesByName) {
  std::vector<std::string> told;
  ReadOptions options;
  options.on_feature = [&](FeatureHash hash, std::string_view name_space, std::string_view name) {
    EXPECT_EQ(hash, hash_of({name_space, name}));
    told.push_back(std::string(name_space) + "^" + std::string(name));
  };
  vw("y |p:2 a b:3 | c", options);
  EXPECT_EQ(told, (std::vector<std::string>{"p^a", "p^b", "^c"}));
}

TEST(LibsvmParser, FeaturesEqualThoseOfVwWithTheSameName) { EXPECT_EQ(libsvm("y 12:3 5:1"), vw("y | 12:3 5")); }

// As in multi-label data sets, whose examples may have no label.
TEST(LibsvmParser, LinesWithoutALabelAreSkippedAndCountedAndToldOfOnce) {
  const Folder folder;
  const std::string path = folder.write("a", "3 1:1\n 1:1\n1:1 2:1\n4 2:1\n");
  ExampleStream stream(find_shards({path}), {0}, {});
  Batch batch = stream.make_batch();
  while (stream.read(batch)) {
  }
  EXPECT_EQ(batch.size(), 2U);
  EXPECT_EQ(stream.bad_lines(), 2U);
  EXPECT_EQ(stream.take_warnings(),
            std::vector<std::string>{"skipped: " + path +
                                     ":2:2: expected a label, found '1:1'; further lines without "
                                     "a label are skipped and counted, but not listed"});
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({folder.write("b", "3 1:1\na:b 1:1\n")}); }),
            folder.path("b") +
                ":2:1: expected an index that is an unsigned integer below 2^64, found 'a:b'; the line "
                "was read as libsvm, like 'label 3:1 17:0.5'; --format chooses another format");
}

TEST(LibsvmParser, FirstLineMayBeAnXmcHeader) {
  const Folder folder;
  EXPECT_EQ(labels_of(read_all({folder.write("a", "2 10 5\n3 1:1\n4 2:1\n")})), "3 4");
  EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({folder.write("b", "3 1:1\n2 10 5\n")}); }),
            folder.path("b") +
                ":2:3: expected index:value, found '10'; the line was read as libsvm, like 'label 3:1 "
                "17:0.5'; --format chooses another format");
}

}  // namespace
}  // namespace cpt
