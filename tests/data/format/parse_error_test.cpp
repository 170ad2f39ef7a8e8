// Every way in which a line can be bad, and that nothing of it is learned.
#include "data/format/parse_error.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "data/folder.h"
#include "data/reading.h"

namespace cpt {
namespace {

struct BadLine {
  Format format;
  std::string line;
  std::string reason;  // after "path:"
};

const std::string kLabels = "expected labels with one comma between them, found ";
const std::string kImportance = "expected an importance from 0 to 1e12, found ";
const std::string kValue = "expected a number of at most 1e30 in size, found ";
const std::string kScaled = "expected a number of at most 1e30 in size once scaled, found ";
const std::string kIndex = "expected an index that is an unsigned integer below 2^64, found ";

const std::vector<BadLine>& bad_lines() {
  static const std::vector<BadLine> kLines = {
      // a missing label
      {Format::kVw, "|f a", "2:1: expected a label, found '|f'"},
      {Format::kVw, "  |f a", "2:3: expected a label, found '|f'"},
      {Format::kVw, "'t7|f a", "2:1: expected a label, found ''t7|f'"},
      {Format::kVw, "'t7 |f a", "2:1: expected a label, found ''t7'"},
      {Format::kLibsvm, "1,,2 3:1", "2:1: " + kLabels + "'1,,2'"},
      {Format::kLibsvm, ",1 3:1", "2:1: " + kLabels + "',1'"},
      {Format::kLibsvm, "1, 3:1", "2:1: " + kLabels + "'1,'"},
      {Format::kFasttext, "some words", "2:1: expected a label, found 'some'"},
      {Format::kFasttext, "w __label__ x", "2:3: expected a name after __label__, found '__label__'"},
      // a negative or otherwise wrong importance
      {Format::kVw, "y -1 |f a", "2:3: " + kImportance + "'-1'"},
      {Format::kVw, "y nan |f a", "2:3: " + kImportance + "'nan'"},
      {Format::kVw, "y inf |f a", "2:3: " + kImportance + "'inf'"},
      {Format::kVw, "y 1e31 |f a", "2:3: " + kImportance + "'1e31'"},
      {Format::kVw, "y 1.000001e12 |f a", "2:3: " + kImportance + "'1.000001e12'"},
      {Format::kVw, "y tag|f a", "2:3: " + kImportance + "'tag'"},
      // what is not a line of the format
      {Format::kVw, "y 1 2 |f a", "2:5: expected '|' or a 'tag, found '2'"},
      {Format::kVw, "y 1 'tag x|f a", "2:10: expected '|' or a 'tag, found 'x'"},
      {Format::kVw, "y 1", "2:4: expected '|' before the features, found the end of the line"},
      {Format::kLibsvm, "1 3:1 word", "2:7: expected index:value, found 'word'"},
      {Format::kLibsvm, "1 # 3:1", "2:3: expected index:value, found '#'"},
      {Format::kLibsvm, "1 -3:1", "2:3: " + kIndex + "'-3:1'"},
      {Format::kLibsvm, "1 +3:1", "2:3: " + kIndex + "'+3:1'"},
      {Format::kLibsvm, "1 x:1", "2:3: " + kIndex + "'x:1'"},
      {Format::kLibsvm, "1 :1", "2:3: " + kIndex + "':1'"},
      {Format::kLibsvm, "1 3.0:1", "2:3: " + kIndex + "'3.0:1'"},
      {Format::kLibsvm, "1 18446744073709551616:1", "2:3: " + kIndex + "'18446744073709551616:1'"},
      // values
      {Format::kVw, "y |f a:x", "2:8: " + kValue + "'x'"},
      {Format::kVw, "y |f a:1:2", "2:8: " + kValue + "'1:2'"},
      {Format::kVw, "y |f a: b", "2:8: " + kValue + "''"},
      {Format::kVw, "y |f a:", "2:8: " + kValue + "the end of the line"},
      {Format::kVw, "y |f b a:nan", "2:10: " + kValue + "'nan'"},
      {Format::kVw, "y |f a:-inf", "2:8: " + kValue + "'-inf'"},
      {Format::kVw, "y |f a:1.1e30", "2:8: " + kValue + "'1.1e30'"},
      {Format::kVw, "y |f a:1e999", "2:8: " + kValue + "'1e999'"},
      {Format::kVw, "y |f a:1\x01", "2:8: " + kValue + "'1\\x01'"},
      {Format::kVw, "y |f:x a", "2:6: " + kValue + "'x'"},
      {Format::kVw, "y |f:nan a", "2:6: " + kValue + "'nan'"},
      {Format::kVw, "y |f:1e20 a:1e20", "2:13: " + kScaled + "'1e20'"},
      {Format::kVw, "y |f a:" + std::string(81, 'x'), "2:8: " + kValue + "'" + std::string(80, 'x') + "...'"},
      {Format::kLibsvm, "1 3:", "2:5: " + kValue + "the end of the line"},
      {Format::kLibsvm, "1 3:1:1", "2:5: " + kValue + "'1:1'"},
      {Format::kLibsvm, "1 3:nan", "2:5: " + kValue + "'nan'"},
      {Format::kLibsvm, "1 3:-1e31", "2:5: " + kValue + "'-1e31'"},
      {Format::kLibsvm, "1 3:1 4:0x1", "2:9: " + kValue + "'0x1'"},
  };
  return kLines;
}

std::string good_line(Format format, const std::string& label) {
  if (format == Format::kVw) return label + " |f good:1\n";
  if (format == Format::kLibsvm) return label + " 1:1\n";
  return "__label__" + label + " good\n";
}

// Among good lines, with either line end.
TEST(ParseError, SaysWhereWhatWasExpectedAndWhatWasFoundAndLeavesNothingOfTheLine) {
  const Folder folder;
  for (const BadLine& bad : bad_lines()) {
    const Features good = bad.format == Format::kLibsvm     ? features({{"", "1"}})
                          : bad.format == Format::kFasttext ? features({{"", "good"}})
                                                            : features({{"f", "good"}});
    for (const std::string line_end : {"\n", "\r\n"}) {
      SCOPED_TRACE(bad.line);
      const std::string path =
          folder.write("shard", good_line(bad.format, "u") + bad.line + line_end + good_line(bad.format, "v"));
      EXPECT_EQ(error_of(Fault::kBadData, [&] { read_all({path}); }), path + ":" + bad.reason + read_as(bad.format));
      ExampleStream stream = stream_of({path}, skipping());
      EXPECT_EQ(read_rest(stream), (std::vector<Read>{{"u", good, 1, 0, 1}, {"v", good, 1, 0, 3}}));
      EXPECT_EQ(stream.bad_lines(), 1U);
      EXPECT_EQ(stream.take_warnings(), (std::vector<std::string>{"skipped: " + path + ":" + bad.reason}));
    }
  }
}

TEST(ParseError, LeavesNothingBehindWhenTheStreamStops) {
  const Folder folder;
  ExampleStream stream = stream_of({folder.write("a", "u |f a\nv |f b c:nan\nw |f d\n")});
  Batch batch = stream.make_batch();
  ASSERT_TRUE(stream.read(batch));
  EXPECT_THROW(stream.read(batch), Error);
  EXPECT_EQ(batch.size(), 1U);
  EXPECT_EQ(batch.open_features(), 0U);
}

TEST(ParseError, CountsAllLinesAndTellsOfTheFirstTwenty) {
  const Folder folder;
  std::string text = "u |f a\n";
  for (int i = 0; i < 30; ++i) text += "bad\n";
  ExampleStream stream = stream_of({folder.write("a", text)}, skipping());
  EXPECT_EQ(labels_of(read_rest(stream)), "u");
  EXPECT_EQ(stream.bad_lines(), 30U);
  const auto warnings = stream.take_warnings();
  ASSERT_EQ(warnings.size(), 20U);
  EXPECT_TRUE(warnings.back().starts_with("skipped: " + folder.path("a") + ":21:4: ")) << warnings.back();
  EXPECT_TRUE(stream.take_warnings().empty());
}

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Quote, CutsToEightyCharacters) {
  EXPECT_EQ(quote(repeat("x", 80)), "'" + repeat("x", 80) + "'");
  EXPECT_EQ(quote(repeat("x", 81)), "'" + repeat("x", 80) + "...'");
  EXPECT_EQ(quote(repeat("é", 81)), "'" + repeat("é", 80) + "...'");
}

TEST(Quote, MakesControlBytesPrintable) {
  EXPECT_EQ(quote(std::string("a\tb\x1b[1m\0\x7f\r", 10)), "'a\\tb\\x1b[1m\\x00\\x7f\\x0d'");
  EXPECT_EQ(quote("\xc2\x9b"), "'\\xc2\\x9b'");  // the control sequence introducer in UTF-8
}

TEST(Quote, KeepsWholeCharactersAndEscapesBrokenOnes) {
  EXPECT_EQ(quote("é€😀"), "'é€😀'");
  EXPECT_EQ(quote("\xc3"), "'\\xc3'");
  EXPECT_EQ(quote("\xe2\x82x"), "'\\xe2\\x82x'");
  EXPECT_EQ(quote("\xff\x80"), "'\\xff\\x80'");
  EXPECT_EQ(quote("\xc0\xaf"), "'\\xc0\\xaf'");           // overlong
  EXPECT_EQ(quote("\xed\xa0\x80"), "'\\xed\\xa0\\x80'");  // a surrogate
}

}  // namespace
}  // namespace cpt
