#include "data/text/delimiters.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "cpt/hashing.h"
#include "model/weights/only_target.h"

namespace cpt {
namespace {

constexpr std::string_view kSet = " \t|:";

// Offsets, the last one the size of the text.
std::vector<std::size_t> plain(std::string_view text, std::string_view set) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (set.find(text[i]) != std::string_view::npos) found.push_back(i);
  }
  found.push_back(text.size());
  return found;
}

std::vector<std::size_t> walked(Delimiters& delimiters, std::string_view text) {
  std::vector<std::size_t> found;
  DelimiterWalk walk = delimiters.walk(text);
  do found.push_back(static_cast<std::size_t>(walk.next() - text.data()));
  while (found.back() < text.size());
  return found;
}

// Of any bytes, one in `rare` of which is a delimiter.
std::vector<char> random_text(std::size_t size, std::uint64_t rare) {
  std::vector<char> text(size);
  std::uint64_t state = size;
  for (char& c : text) {
    state = mix(state + rare);
    c = state % rare == 0 ? kSet[(state >> 32) % kSet.size()] : static_cast<char>(state >> 40);
  }
  return text;
}

TEST(Delimiters, AreThoseOfAPlainLoopOnEveryInstructionSet) {
  for (const std::int64_t target : targets()) {
    const OnlyTarget only(target);
    Delimiters delimiters{DelimiterSet(kSet)};
    for (std::size_t size = 0; size <= 400; ++size) {
      for (const std::uint64_t rare : {1U, 7U, 1000U}) {
        const std::vector<char> bytes = random_text(size, rare);
        const std::string_view text(bytes.data(), bytes.size());
        ASSERT_EQ(walked(delimiters, text), plain(text, kSet)) << delimiter_target() << ", " << size;
      }
    }
  }
}

TEST(Delimiters, MayBeFewerThanFour) {
  Delimiters delimiters{DelimiterSet(" \t")};
  const std::string text = "a b\tc:d|e" + std::string(100, ' ') + '\0';
  EXPECT_EQ(walked(delimiters, text), plain(text, " \t"));
}

TEST(Delimiters, OfAShortTextBehindALongOneAreItsOwn) {
  Delimiters delimiters{DelimiterSet(kSet)};
  EXPECT_EQ(walked(delimiters, std::string(1000, '|')).size(), 1001U);
  EXPECT_EQ(walked(delimiters, "a b"), (std::vector<std::size_t>{1, 3}));
  EXPECT_EQ(walked(delimiters, ""), std::vector<std::size_t>{0});
}

// Else the first test compares one set with itself.
TEST(Delimiters, InstructionSetsAreReallySwitched) {
  std::set<std::string> names;
  for (const std::int64_t target : targets()) {
    const OnlyTarget only(target);
    names.insert(delimiter_target());
  }
  EXPECT_EQ(names.size(), targets().size());
}

}  // namespace
}  // namespace cpt
