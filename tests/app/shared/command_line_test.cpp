// Options as users type them.
#include "app/shared/command_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "cpt/error.h"

namespace cpt {
namespace {

TEST(ParseCount, TakesWholeNumbers) {
  EXPECT_EQ(parse_count("0"), 0U);
  EXPECT_EQ(parse_count("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(parse_count("1e6"), 1000000U);
  EXPECT_EQ(parse_count("1.8e19"), 18000000000000000000U);
  EXPECT_EQ(parse_count("2.5e3"), 2500U);
}

TEST(ParseCount, TakesNothingElse) {
  for (const char* text : {"", "-1", "1.5", "1e20", "1e", "nan", "inf", "ten", "7 ", " 7", "18446744073709551616"}) {
    EXPECT_EQ(parse_count(text), std::nullopt) << text;
  }
}

// What a program with one option makes of a command line; nothing if it is refused.
template <class Declare>
bool parses(Declare declare, const std::vector<const char*>& words) {
  CLI::App app;
  declare(app);
  std::vector<const char*> line{"program"};
  line.insert(line.end(), words.begin(), words.end());
  try {
    app.parse(static_cast<int>(line.size()), line.data());
  } catch (const CLI::ValidationError&) {
    return false;
  }
  return true;
}

TEST(AddCount, StaysInsideItsBounds) {
  std::uint32_t count = 7;
  const auto declare = [&](CLI::App& app) { add_count(app, "--count", count, 2, ""); };
  EXPECT_TRUE(parses(declare, {}));
  EXPECT_EQ(count, 7U);
  EXPECT_TRUE(parses(declare, {"--count", "4294967295"}));
  EXPECT_EQ(count, 4294967295U);
  for (const char* text : {"1", "4294967296", "-1"}) EXPECT_FALSE(parses(declare, {"--count", text})) << text;
}

std::string reason_against(const char* text) {
  try {
    parse_value("--count", [&] { return parse_count(text, 1, 4096); });
  } catch (const CLI::ValidationError& error) {
    return error.what();
  }
  return "";
}

TEST(ParseValue, SaysWhichBoundIsBroken) {
  EXPECT_EQ(reason_against("4096"), "");
  for (const std::string text : {"4097", "1e20", "99999999999999999999"}) {
    EXPECT_EQ(reason_against(text.c_str()), "--count: '" + text + "' is not a whole number from 1 to 4096");
  }
  for (const std::string text : {"0", "-5000", "many"}) {
    EXPECT_EQ(reason_against(text.c_str()), "--count: '" + text + "' is not a whole number of at least 1");
  }
}

TEST(ParseValue, NamesTheRangeOfACountThatMayBeAnyOfSixtyFourBits) {
  EXPECT_THAT(
      [] { parse_count("18446744073709551616", 0, UINT64_MAX); },
      ::testing::ThrowsMessage<Error>("'18446744073709551616' is not a whole number from 0 to 18446744073709551615"));
}

struct Policy {
  bool skip = false;
  std::optional<std::uint64_t> most;
  bool operator==(const Policy&) const = default;
};

std::optional<Policy> on_error(const char* text) {
  Policy policy;
  const auto declare = [&](CLI::App& app) { add_on_error(app, policy.skip, policy.most, ""); };
  if (!parses(declare, {"--on-error", text})) return std::nullopt;
  return policy;
}

TEST(AddOnError, KnowsItsWords) {
  EXPECT_EQ(on_error("stop"), (Policy{false, std::nullopt}));
  EXPECT_EQ(on_error("skip"), (Policy{true, std::nullopt}));
  EXPECT_EQ(on_error("skip:0"), (Policy{true, 0}));
  EXPECT_EQ(on_error("skip:1e3"), (Policy{true, 1000}));
  for (const char* text : {"", "skip:", "skip:-1", "skip:few", "ignore"})
    EXPECT_EQ(on_error(text), std::nullopt) << text;
}

}  // namespace
}  // namespace cpt
