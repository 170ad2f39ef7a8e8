#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "data/reading.h"

namespace cpt {
namespace {

Read vw(std::string_view line, const ReadOptions& options = {}) { return parse_one(Format::kVw, line, options); }

TEST(VwParser, ReadsLabelNamespacesScalesAndValues) {
  const Read read = vw("where |p 1=place 2=the |b:0.5 of place:4 |g the_place:-1e-1");
  EXPECT_EQ(read.label, "where");
  EXPECT_EQ(read.importance, 1.0F);
  EXPECT_EQ(read.line, 7U);
  EXPECT_EQ(
      read.x,
      features({{"p", "1=place"}, {"p", "2=the"}, {"b", "of", 0.5F}, {"b", "place", 2}, {"g", "the_place", -0.1F}}));
}

TEST(VwParser, EquivalentLinesGiveEqualExamples) {
  const Read plain = vw("y |a u:2 v |b w");
  for (const char* line : {"y |b w |a v u:2", "y |a u |b w |a u v", "\ty\t|a\tu:2\t v  |b\tw\t", "y|a u:2 v|b w",
                           "y 1 |a u:2 v |b w", "y +1e0 'tag|a u:2 v |b w", "y 'tag |a u:2 v |b w", "y '|a u:2 v |b w",
                           "  y |a:2 u v:.5 |b:1 w", "y |a u:2 v zero:0 |b w |c"}) {
    EXPECT_EQ(vw(line), plain) << line;
  }
}

TEST(VwParser, EveryTokenWithoutBlankOrBarIsALabel) {
  for (const char* label :
       {"7", "-1", ",", ":", "a:b", "twist's", "'", "'quoted", "__label__x", "a,b", "\xc3\xa9", "#"}) {
    EXPECT_EQ(vw(std::string(label) + " |f a").label, label);
  }
}

TEST(VwParser, ImportanceIsTheSecondToken) {
  EXPECT_EQ(vw("y 2.5 |f a").importance, 2.5F);
  EXPECT_EQ(vw("y 2.5 'tag|f a").importance, 2.5F);
  EXPECT_EQ(vw("y 2.5|f a").importance, 2.5F);
  EXPECT_EQ(vw("y 1e12 |f a").importance, 1e12F);
}

TEST(VwParser, NamespaceMayBeEmpty) {
  EXPECT_EQ(vw("y | a b:2").x, features({{"", "a"}, {"", "b", 2}}));
  EXPECT_EQ(vw("y |:3 a").x, features({{"", "a", 3}}));
  EXPECT_EQ(vw("y ||p c").x, features({{"p", "c"}}));
  EXPECT_EQ(vw("y |").x, Features());
}

TEST(VwParser, FeatureNamesMayBeEmptyNumbersOrSigns) {
  EXPECT_EQ(vw("y |f :2 17 # é").x, features({{"f", "", 2}, {"f", "17"}, {"f", "#"}, {"f", "é"}}));
}

TEST(VwParser, AnIntegerNameDiffersBetweenNamespaces) { EXPECT_EQ(vw("y |a 3 |b 3").x.size(), 2U); }

TEST(VwParser, SeedChangesEveryHash) {
  ReadOptions options;
  options.seed = 2;
  EXPECT_EQ(vw("y |f a", options).x, (Features{{hash_of({"f", "a"}, 2), 1.0F}}));
  EXPECT_NE(hash_of({"f", "a"}, 2), hash_of({"f", "a"}, 1));
}

TEST(VwParser, LabelMayBeMissingIfNotRequired) {
  ReadOptions options;
  options.labels_required = false;
  EXPECT_EQ(vw("|f a", options).label, "");
  EXPECT_EQ(vw("  |f a", options).label, "");
  EXPECT_EQ(vw("'tag|f a", options), vw("|f a", options));
  EXPECT_EQ(vw("'|f a", options), vw("|f a", options));
  EXPECT_EQ(vw("'no_tag |f a", options).label, "'no_tag");
  EXPECT_EQ(vw("'no_tag '|f a", options).label, "'no_tag");
  EXPECT_EQ(vw("y |f a", options).label, "y");
}

TEST(VwParser, RepeatedValuesStayInRange) {
  EXPECT_EQ(vw("y |f a:1e30 a:1e30").x, features({{"f", "a", 1e30F}}));
  EXPECT_EQ(vw("y |f a:-1e30 a:-1e30").x, features({{"f", "a", -1e30F}}));
}

TEST(VwParser, TellsOfFeaturesByName) {
  std::vector<std::string> told;
  ReadOptions options;
  options.on_feature = [&](FeatureHash hash, std::string_view name_space, std::string_view name) {
    EXPECT_EQ(hash, hash_of({name_space, name}));
    told.push_back(std::string(name_space) + "^" + std::string(name));
  };
  vw("y |p:2 a b:3 | c", options);
  EXPECT_EQ(told, (std::vector<std::string>{"p^a", "p^b", "^c"}));
}

}  // namespace
}  // namespace cpt
