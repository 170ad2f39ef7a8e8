#include <gtest/gtest.h>

#include <string>

#include "data/format/parse_error.h"

namespace cpt {
namespace {

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
  EXPECT_EQ(quote(std::string("a\tb\x1b[1m\0\x7f\r", 10)), "'a\\x09b\\x1b[1m\\x00\\x7f\\x0d'");
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
