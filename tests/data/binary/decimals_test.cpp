// Values are told as decimal numbers where that gives them back, to the last bit.
#include "data/binary/decimals.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace cpt {
namespace {

std::vector<float> back(const Decimals& decimals) {
  std::vector<float> values(decimals.numbers.size());
  from_decimals(decimals.numbers, decimals.digits, values);
  return values;
}

void expect_same_bits(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(expected[i])) << i;
  }
}

TEST(Decimals, AreAsShortAsAllValuesCanBe) {
  const std::vector<float> values{0.5F, -3, 0.25F, 100};
  const auto decimals = as_decimals(values);
  ASSERT_TRUE(decimals);
  EXPECT_EQ(decimals->digits, 2U);
  EXPECT_EQ(decimals->numbers, (std::vector<std::uint32_t>{100, 599, 50, 20'000}));
  expect_same_bits(back(*decimals), values);
  EXPECT_EQ(as_decimals(std::vector<float>{1, 1})->digits, 0U);
  EXPECT_EQ(as_decimals(std::vector<float>{})->numbers.size(), 0U);
}

// As a text has them, of every length.
TEST(Decimals, AreTheFloatsThatTextIsReadAs) {
  std::mt19937 random(1);
  for (unsigned digits = 0; digits <= Decimals::kMostDigits; ++digits) {
    SCOPED_TRACE(std::to_string(digits) + " digits");
    std::vector<float> values;
    for (int i = 0; i < 10'000; ++i) {
      const auto m = static_cast<std::int64_t>(random() % (1U << 25)) - (1 << 24);
      const std::string text = std::to_string(m) + "e-" + std::to_string(digits);
      if (m != 0) values.push_back(std::strtof(text.c_str(), nullptr));
    }
    const auto decimals = as_decimals(values);
    ASSERT_TRUE(decimals);
    EXPECT_LE(decimals->digits, digits);
    expect_same_bits(back(*decimals), values);
  }
}

TEST(Decimals, AreNotMadeOfOtherValues) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float value : {1.0F / 3, 1e-20F, 16777218.0F, 1e20F, -0.0F, kInfinity, -kInfinity, std::nanf("")}) {
    EXPECT_FALSE(as_decimals(std::vector<float>{0.5F, value})) << value;
  }
}

}  // namespace
}  // namespace cpt
