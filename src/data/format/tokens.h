// A line as tokens between spaces and tabs.
#pragma once

#include <cstddef>
#include <string_view>

namespace cpt {

constexpr bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The first token of the text and the rest of it. At the end of the text the token is empty; it always lies inside the
// text (or at its end), so that it can be pointed at.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : next_(text.data()), end_(text.data() + text.size()) {}

  // The next token; empty after the last one.
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

}  // namespace cpt
