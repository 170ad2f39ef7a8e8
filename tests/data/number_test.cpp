#include "data/number.h"

#include <gtest/gtest.h>

namespace cpt {
namespace {

TEST(Number, TakesEveryDecimalForm) {
  EXPECT_EQ(parse_number("1"), 1.0);
  EXPECT_EQ(parse_number("+1"), 1.0);
  EXPECT_EQ(parse_number("-.5"), -0.5);
  EXPECT_EQ(parse_number("2."), 2.0);
  EXPECT_EQ(parse_number("1e3"), 1000.0);
  EXPECT_EQ(parse_number("1.5E-1"), 0.15);
  EXPECT_EQ(parse_number("1e30"), 1e30);
  EXPECT_EQ(parse_number("-1e30"), -1e30);
}

TEST(Number, TooSmallIsZeroTooLargeIsNone) {
  EXPECT_EQ(parse_number("1e-400"), 0.0);
  EXPECT_EQ(parse_number("-1e-99999999999999999999"), 0.0);
  EXPECT_EQ(parse_number("1.0001e30"), std::nullopt);
  EXPECT_EQ(parse_number("-2e30"), std::nullopt);
  EXPECT_EQ(parse_number("1e400"), std::nullopt);
  EXPECT_EQ(parse_number("1e99999999999999999999"), std::nullopt);
}

TEST(Number, AnythingElseIsNone) {
  for (const char* text :
       {"",   "+",    "-",   ".",  "e",   "x",   "1x",   "1:2",    "+-1", "++1",  "--1",      " 1",
        "1 ", "0x10", "1,5", "1e", "nan", "NaN", "-nan", "nan(1)", "inf", "-inf", "infinity", "+inf"}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace cpt
