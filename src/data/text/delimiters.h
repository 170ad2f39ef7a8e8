// Finds the ends of the tokens of a line.
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

// Sets bit i % 64 of marks[i / 64] if byte i of the text is in the set, and all bits from the end of the text on, which
// are at least one: it writes size / 64 + 1 marks. Reads nothing but the text.
void mark_delimiters(std::string_view text, const DelimiterSet& set, std::uint64_t* marks);

// The name of the instruction set that mark_delimiters() uses on this processor ("AVX3", "SSE4", ...).
const char* delimiter_target();

// Walks from delimiter to delimiter. Copies are independent. Marks and text must outlive it.
class DelimiterWalk {
 public:
  DelimiterWalk(std::string_view text, const std::uint64_t* marks) : text_(text.data()), mark_(marks), bits_(*marks) {}

  // The next delimiter, or the end of the text after the last one. Not to be called after that.
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
  const char* text_;  // the byte of bit 0 of *mark_
  const std::uint64_t* mark_;
  std::uint64_t bits_;  // the rest of *mark_
};

// Finds the delimiters of one text after another. Keeps its memory; not thread-safe.
//
// The reason for marks: lengths of tokens cannot be predicted, so a loop over bytes has one branch misprediction for
// each token. Marks for 64 bytes take a few instructions, and walking over them has no branch that depends on lengths.
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
