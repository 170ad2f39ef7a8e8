// Sums of numbers of all sizes, in any order, against long sums of whole numbers.
#include "cpt/exact_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace cpt {
namespace {

ExactSum sum_of(const std::vector<double>& numbers) {
  ExactSum sum;
  for (const double number : numbers) sum += number;
  return sum;
}

std::vector<double> random_numbers(int least_exponent, int most_exponent, bool negative) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> mantissa(1, 2);
  std::uniform_int_distribution<int> exponent(least_exponent, most_exponent);
  std::vector<double> numbers;
  for (int i = 0; i < 10'000; ++i) {
    const double number = std::ldexp(mantissa(random), exponent(random));
    numbers.push_back(negative && i % 3 == 0 ? -number : number);
  }
  return numbers;
}

TEST(ExactSum, DoesNotDependOnTheOrder) {
  std::vector<double> numbers = random_numbers(-130, 82, true);
  const ExactSum sum = sum_of(numbers);
  std::mt19937_64 random(8);
  for (int i = 0; i < 5; ++i) {
    std::ranges::shuffle(numbers, random);
    EXPECT_EQ(sum_of(numbers), sum);
  }
  std::ranges::sort(numbers);
  EXPECT_EQ(sum_of(numbers), sum);
}

TEST(ExactSum, OfPartsIsThatOfAll) {
  const std::vector<double> numbers = random_numbers(-60, 60, true);
  ExactSum parts[3];
  for (std::size_t i = 0; i < numbers.size(); ++i) parts[i % 3] += numbers[i];
  ExactSum all = parts[2];
  all += parts[0];
  all += parts[1];
  EXPECT_EQ(all, sum_of(numbers));
  all -= parts[1];
  all -= parts[0];
  EXPECT_EQ(all, parts[2]);
}

TEST(ExactSum, IsExactForWholeNumbers) {
  ExactSum sum;
  __int128 expected = 0;
  for (const double number : random_numbers(52, 70, true)) {
    sum += number;
    expected += static_cast<__int128>(number);
  }
  const auto difference = static_cast<double>(sum) - static_cast<double>(expected);
  EXPECT_LE(std::abs(difference), std::abs(static_cast<double>(expected)) * 0x1p-51);
  sum += -static_cast<double>(sum);
  EXPECT_LE(std::abs(static_cast<double>(sum)), std::abs(static_cast<double>(expected)) * 0x1p-51);
}

TEST(ExactSum, KeepsWhatADoubleLoses) {
  ExactSum sum(1e20);
  for (int i = 0; i < 1000; ++i) sum += 1e-10;
  sum += -1e20;
  EXPECT_DOUBLE_EQ(sum, 1e-7);
}

TEST(ExactSum, OfOneNumberIsThatNumber) {
  for (const double number : {0.0, 1.0, -1.0, 0.1, -0.1, 1e24, -1e24, 0x1p-60, 0x1.fffffffffffffp-60}) {
    EXPECT_EQ(static_cast<double>(ExactSum(number)), number);
  }
  EXPECT_NEAR(static_cast<double>(ExactSum(1e-24)), 1e-24, 2e-34);
  EXPECT_EQ(static_cast<double>(ExactSum(0x1p-113)), 0);
  EXPECT_EQ(static_cast<double>(ExactSum(5e-324)), 0);
}

TEST(ExactSum, IsStoredByItsWords) {
  const ExactSum sum = sum_of(random_numbers(-100, 80, true));
  EXPECT_EQ(ExactSum::of_words(sum.words()), sum);
}

TEST(ExactSum, CarriesThroughAllWords) {
  ExactSum sum(-0x1p-112);
  EXPECT_EQ(sum.words(), (ExactSum::Words{~0ULL, ~0ULL, ~0ULL, ~0ULL}));
  sum += 0x1p-112;
  EXPECT_EQ(sum, ExactSum());
}

}  // namespace
}  // namespace cpt
