#include "data/text/tokens.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpt/hashing.h"
#include "data/parsers/plain_parsers.h"

namespace cpt {
namespace {

TEST(Number, TakesEveryDecimalForm) {
  const std::vector<std::pair<std::string, double>> numbers = {
      {"1", 1},        {"+1", 1},      {"-.5", -0.5},    {"2.", 2},     {"1e3", 1000},
      {"1.5E-1", .15}, {"1e30", 1e30}, {"-1e30", -1e30}, {"1e-400", 0}, {"-1e-99999999999999999999", 0}};
  for (const auto& [text, number] : numbers) EXPECT_EQ(parse_decimal(text), number) << text;
}

TEST(Number, TooLargeIsNone) {
  for (const char* text : {"1.0001e30", "-2e30", "1e400", "1e99999999999999999999"}) {
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
  }
}

TEST(Number, AnythingElseIsNone) {
  for (const char* text :
       {"",   "+",    "-",   ".",  "e",   "x",   "1x",   "1:2",    "+-1", "++1",  "--1",      " 1",
        "1 ", "0x10", "1,5", "1e", "nan", "NaN", "-nan", "nan(1)", "inf", "-inf", "infinity", "+inf"}) {
    EXPECT_EQ(parse_decimal(text), std::nullopt) << text;
  }
}

void expect_as_plain(const std::string& text) {
  const std::vector<char> exact(text.begin(), text.end());  // so that a sanitizer sees whoever reads beyond
  const auto number = parse_decimal({exact.data(), exact.size()});
  const auto plain = plain_number(text);
  // NaN never is a number, and the sign of a zero counts.
  const auto bits = [](std::optional<double> n) { return std::bit_cast<std::uint64_t>(n.value_or(std::nan(""))); };
  ASSERT_EQ(bits(number), bits(plain)) << text;
}

TEST(Number, IsThatOfFromCharsForEveryShortText) {
  constexpr std::string_view kAlphabet = "059.-+e:/";
  for (std::size_t length = 0; length <= 5; ++length) {
    std::size_t texts = 1;
    for (std::size_t i = 0; i < length; ++i) texts *= kAlphabet.size();
    for (std::size_t n = 0; n < texts; ++n) {
      std::string text;
      for (std::size_t rest = n; text.size() < length; rest /= kAlphabet.size())
        text += kAlphabet[rest % kAlphabet.size()];
      expect_as_plain(text);
    }
  }
}

TEST(Number, IsThatOfFromCharsForRandomTexts) {
  constexpr std::string_view kOther = ".-+e:/ \xff\xb0x";
  std::uint64_t state = 1;
  const auto below = [&state](std::size_t bound) { return (state = mix(state + 1)) % bound; };
  for (int i = 0; i < 100'000; ++i) {
    std::string text;
    for (std::size_t size = 1 + below(12); text.size() < size;) text += static_cast<char>('0' + below(10));
    if (below(4) != 0) text[below(text.size())] = '.';
    if (below(4) == 0) text[below(text.size())] = kOther[below(kOther.size())];
    expect_as_plain(text);
  }
}

TEST(Number, IndexIsAnIntegerBelowTwoToThe64) {
  for (const char* text :
       {"0", "7", "00000000", "12345678", "123456789", "18446744073709551615", "000000000000000000001"})
    EXPECT_TRUE(is_index(text)) << text;
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1.0", "1e3", "/", ":", "1234567/", ":1234567", "1234567x",
                           "12345678x", "18446744073709551616", "99999999999999999999"})
    EXPECT_FALSE(is_index(text)) << text;
}

}  // namespace
}  // namespace cpt
