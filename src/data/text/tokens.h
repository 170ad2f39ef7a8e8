// The tokens of a line, and numbers among them.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string_view>

namespace cpt {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Walks over the tokens between spaces and tabs.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : next_(text.data()), end_(text.data() + text.size()) {}

  // The next token; empty after the last one. It always lies inside the text (or at its end), so a message can point
  // at it.
  std::string_view next() {
    while (next_ != end_ && is_blank(*next_)) ++next_;
    const char* first = next_;
    while (next_ != end_ && !is_blank(*next_)) ++next_;
    return {first, static_cast<std::size_t>(next_ - first)};
  }

 private:
  const char* next_;
  const char* end_;
};

constexpr bool is_white_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Calls visit(word) for the words of a text, between white space of any kind.
template <class Visit>
void for_each_word(std::string_view text, Visit visit) {
  const char* next = text.data();
  const char* end = next + text.size();
  while (true) {
    while (next != end && is_white_space(*next)) ++next;
    if (next == end) return;
    const char* first = next;
    while (next != end && !is_white_space(*next)) ++next;
    visit(std::string_view(first, static_cast<std::size_t>(next - first)));
  }
}

// The decimal number that is the whole text ("1", "-.5", "+2e-3"); NaN if the text is anything else, NaN, infinite or
// larger than kMaxValue in size. Numbers too small for a double are 0.
double number_or_nan(std::string_view text);

// The same, with nothing instead of NaN.
inline std::optional<double> parse_decimal(std::string_view text) {
  if (text.size() == 1 && text[0] >= '0' && text[0] <= '9') return text[0] - '0';
  const double number = number_or_nan(text);
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

// True if the text is an unsigned integer below 2^64 and nothing else.
bool is_index(std::string_view text);

}  // namespace cpt
