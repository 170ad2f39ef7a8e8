#include <gtest/gtest.h>

#include <map>
#include <string>

#include "data/format/parse_error.h"
#include "data/reading.h"

namespace cpt {
namespace {

ReadOptions with(MultiLabel multilabel) { return {.multilabel = multilabel}; }

TEST(MultiLabel, FirstTakesTheFirst) {
  EXPECT_EQ(labels_of(parse(Format::kLibsvm, "7,3,9 1:1")), "7");
  EXPECT_EQ(labels_of(parse(Format::kFasttext, "__label__b w __label__a")), "b");
}

TEST(MultiLabel, SplitSharesTheImportance) {
  const Features x = features({{"", "1", 2}});
  const std::vector<Read> expected = {
      {"7", x, 0.25F, 0, 7}, {"3", x, 0.25F, 0, 7}, {"9", x, 0.25F, 0, 7}, {"7", x, 0.25F, 0, 7}};
  EXPECT_EQ(parse(Format::kLibsvm, "7,3,9,7 1:2", with(MultiLabel::kSplit)), expected);
}

TEST(MultiLabel, ErrorRejectsTheSecondLabel) {
  EXPECT_EQ(labels_of(parse(Format::kLibsvm, "7 1:1", with(MultiLabel::kError))), "7");
  try {
    parse(Format::kFasttext, "__label__a w __label__b", with(MultiLabel::kError));
    FAIL();
  } catch (const ParseError& parse_error) {
    EXPECT_STREQ(parse_error.what(), "expected one label, found 'b'");
    EXPECT_EQ(parse_error.column(), 23U);
  }
}

TEST(MultiLabel, SampleDependsOnSeedShardAndLineOnly) {
  const auto sample = [](std::uint64_t seed, std::uint32_t shard, std::uint64_t line) {
    ReadOptions options = with(MultiLabel::kSample);
    options.seed = seed;
    return labels_of(parse(Format::kLibsvm, "a,b,c,d,e,f,g,h 1:1", options, {shard, line}));
  };
  std::string by_seed, by_shard, by_line;
  for (std::uint32_t i = 1; i <= 64; ++i) {
    EXPECT_EQ(sample(1, 1, i), sample(1, 1, i));
    by_seed += sample(i, 1, 1);
    by_shard += sample(1, i, 1);
    by_line += sample(1, 1, i);
  }
  for (const std::string& drawn : {by_seed, by_shard, by_line}) {
    EXPECT_NE(drawn, std::string(64, drawn[0]));
  }
}

TEST(MultiLabel, SampleIsEven) {
  std::map<std::string, int> drawn;
  for (std::uint64_t line = 1; line <= 3000; ++line) {
    ++drawn[labels_of(parse(Format::kLibsvm, "a,b,c 1:1", with(MultiLabel::kSample), {0, line}))];
  }
  // Six standard deviations of a binomial with p = 1/3.
  for (const char* label : {"a", "b", "c"}) EXPECT_NEAR(drawn[label], 1000, 155) << label;
}

TEST(MultiLabel, CommasOfVwLabelsArePartOfThem) {
  EXPECT_EQ(labels_of(parse(Format::kVw, "7,3 |f a", with(MultiLabel::kError))), "7,3");
}

TEST(MultiLabel, SplitRefusesToFillTheMemory) {
  std::string line = "0";
  for (int i = 1; i <= 5000; ++i) line += ",0";
  for (int i = 1; i <= 5000; ++i) line += " " + std::to_string(i) + ":1";
  EXPECT_THROW(parse(Format::kLibsvm, line, with(MultiLabel::kSplit)), ParseError);
}

}  // namespace
}  // namespace cpt
