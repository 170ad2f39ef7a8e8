#include "cpt/exact_sum.h"

#include <bit>
#include <cmath>

namespace cpt {

namespace {

constexpr int kUnitExponent = -112;
constexpr int kMantissaBits = 52;
constexpr int kExponentBias = 1023;
using Words = ExactSum::Words;

Words negated(const Words& words) {
  Words result;
  std::uint64_t carry = 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    result[i] = ~words[i] + carry;
    carry = carry != 0 && result[i] == 0 ? 1 : 0;
  }
  return result;
}

// Adds `value` to the words from `at` on.
void add_word(Words& words, std::size_t at, std::uint64_t value) {
  while (value != 0 && at < words.size()) {
    words[at] += value;
    value = words[at] < value ? 1 : 0;
    ++at;
  }
}

void subtract_word(Words& words, std::size_t at, std::uint64_t value) {
  while (value != 0 && at < words.size()) {
    const bool borrows = words[at] < value;
    words[at] -= value;
    value = borrows ? 1 : 0;
    ++at;
  }
}

__extension__ using Wide = unsigned __int128;

Wide wide(const Words& words, std::size_t at) { return static_cast<Wide>(words[at + 1]) << 64 | words[at]; }

void set_wide(Words& words, std::size_t at, Wide value) {
  words[at] = static_cast<std::uint64_t>(value);
  words[at + 1] = static_cast<std::uint64_t>(value >> 64);
}

// Adds `value` to the words from `at` on, of which there are two at least.
void add(Words& words, std::size_t at, Wide value) {
  const Wide sum = wide(words, at) + value;
  set_wide(words, at, sum);
  if (sum < value) add_word(words, at + 2, 1);
}

void subtract(Words& words, std::size_t at, Wide value) {
  const Wide before = wide(words, at);
  set_wide(words, at, before - value);
  if (before < value) subtract_word(words, at + 2, 1);
}

}  // namespace

ExactSum& ExactSum::operator+=(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> kMantissaBits & 0x7ff);
  if (exponent == 0) return *this;  // 0, or less than 2^-1022
  std::uint64_t mantissa = (bits & ((std::uint64_t{1} << kMantissaBits) - 1)) | std::uint64_t{1} << kMantissaBits;
  int shift = exponent - kExponentBias - kMantissaBits - kUnitExponent;
  if (shift <= -64) return *this;
  if (shift < 0) {
    mantissa >>= -shift;
    shift = 0;
  }
  if (shift >= 192) return *this;  // outside the allowed range
  const auto at = static_cast<std::size_t>(shift / 64);
  const Wide shifted = static_cast<Wide>(mantissa) << (shift % 64);
  if (value > 0) {
    add(words_, at, shifted);
  } else {
    subtract(words_, at, shifted);
  }
  return *this;
}

ExactSum& ExactSum::operator+=(const ExactSum& other) {
  const Words added = other.words_;  // it may be this one
  for (std::size_t i = 0; i < added.size(); ++i) add_word(words_, i, added[i]);
  return *this;
}

ExactSum& ExactSum::operator-=(const ExactSum& other) {
  const Words taken = other.words_;
  for (std::size_t i = 0; i < taken.size(); ++i) subtract_word(words_, i, taken[i]);
  return *this;
}

ExactSum::operator double() const {
  const bool is_negative = words_.back() >> 63 != 0;
  const Words magnitude = is_negative ? negated(words_) : words_;
  double sum = 0;
  for (std::size_t i = magnitude.size(); i-- > 0;) {
    sum += std::ldexp(static_cast<double>(magnitude[i]), static_cast<int>(64 * i) + kUnitExponent);
  }
  return is_negative ? -sum : sum;
}

}  // namespace cpt
