// Where the tokens of a line end.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace cpt {

// Up to four different bytes.
class DelimiterSet {
 public:
  explicit constexpr DelimiterSet(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes_.size(); ++i) bytes_[i] = bytes[i < bytes.size() ? i : 0];
  }
  const std::array<char, 4>& bytes() const { return bytes_; }

 private:
  std::array<char, 4> bytes_{};
};

// Sets bit i % 64 of marks[i / 64] where byte i of the text is one of the set, and all bits from the text's end on, of
// which there is one at least: size / 64 + 1 marks are written. Reads nothing but the text.
void mark_delimiters(std::string_view text, const DelimiterSet& set, std::uint64_t* marks);

// The name of the instruction set that does it on this processor ("AVX3", "SSE4", ...).
const char* delimiter_target();

// Walks from delimiter to delimiter. A copy walks on its own; valid as long as the marks and the text.
class DelimiterWalk {
 public:
  DelimiterWalk(std::string_view text, const std::uint64_t* marks) : text_(text.data()), mark_(marks), bits_(*marks) {}

  // The next delimiter; first the end of the text when there is none, then nothing that has a meaning.
  const char* next() {
    while (bits_ == 0) {
      bits_ = *++mark_;
      text_ += 64;
    }
    const char* found = text_ + std::countr_zero(bits_);
    bits_ &= bits_ - 1;
    return found;
  }

 private:
  const char* text_;  // the byte that bit 0 of *mark_ stands for
  const std::uint64_t* mark_;
  std::uint64_t bits_;  // those of *mark_ that are still to come
};

// The delimiters of one text after the other. Keeps its memory; not thread-safe.
//
// Why: how long a token is cannot be foretold, so that a loop over its bytes ends in a misprediction, once a token.
// Marks for 64 bytes are made in a few instructions, and walking over them has no branch that depends on lengths.
class Delimiters {
 public:
  explicit Delimiters(const DelimiterSet& set) : set_(set) {}

  DelimiterWalk walk(std::string_view text) {
    if (const std::size_t count = text.size() / 64 + 1; marks_.size() < count) marks_.resize(count);
    mark_delimiters(text, set_, marks_.data());
    return {text, marks_.data()};
  }

 private:
  DelimiterSet set_;
  std::vector<std::uint64_t> marks_;
};

}  // namespace cpt
