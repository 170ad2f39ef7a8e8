// A sum of numbers that is exact, and so the same in whatever order they are added.
#pragma once

#include <array>
#include <cstdint>

namespace cpt {

// Adds doubles as whole multiples of 2^-112 in 256 bits. Each number is cut off to such a multiple. That leaves numbers
// of 2^-60 or more as they are, and changes smaller ones by less than 2e-34. Numbers must be finite and smaller than
// 2^83 (1e25); then 2^60 of them fit. Trivially copyable.
class ExactSum {
 public:
  ExactSum() = default;
  explicit ExactSum(double value) { *this += value; }

  ExactSum& operator+=(double value);
  ExactSum& operator+=(const ExactSum& other);
  ExactSum& operator-=(const ExactSum& other);
  bool operator==(const ExactSum&) const = default;

  // The sum within two units in the last place.
  operator double() const;  // NOLINT(google-explicit-constructor): it is read as a number everywhere

  // The 256 bits in two's complement, the lowest first: for storing.
  using Words = std::array<std::uint64_t, 4>;
  const Words& words() const { return words_; }
  static ExactSum of_words(const Words& words) {
    ExactSum sum;
    sum.words_ = words;
    return sum;
  }

 private:
  Words words_{};
};

}  // namespace cpt
