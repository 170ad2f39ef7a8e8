#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "data/folder.h"
#include "data/format/parse_error.h"
#include "data/reading.h"

namespace cpt {
namespace {

Features crossed(std::vector<std::string> interactions, std::string_view line) {
  return parse_one(Format::kVw, line, {.interactions = std::move(interactions)}).x;
}

FeatureHash cross_of(const Named& first, const Named& second) {
  return FeatureHasher::cross(hash_of(first), hash_of(second));
}

FeatureHash unordered_cross_of(const Named& a, const Named& b) {
  return FeatureHasher::cross(std::min(hash_of(a), hash_of(b)), std::max(hash_of(a), hash_of(b)));
}

Features operator+(Features a, const Features& b) {
  for (const auto& [feature, value] : b) a[feature] += value;
  return a;
}

TEST(Interactions, CrossEachFeatureOfOneNamespaceWithEachOfTheOther) {
  const Named u{"apple", "u", 2}, v{"apple", "v"}, w{"berry", "w", 3};
  const Features plain = features({u, v, w});
  const Features crosses = {{cross_of(u, w), 6.0F}, {cross_of(v, w), 3.0F}};
  EXPECT_EQ(crossed({"ab"}, "y |apple u:2 v |berry w:3"), plain + crosses);
  EXPECT_EQ(crossed({"ab"}, "y |berry w:3 |apple v u:2"), plain + crosses);
  EXPECT_EQ(crossed({"ab"}, "y |apple u:2 |berry w:3 |apple v"), plain + crosses);
}

TEST(Interactions, OrderOfTheTwoNamespacesMatters) {
  EXPECT_NE(crossed({"ab"}, "y |a u |b w"), crossed({"ba"}, "y |a u |b w"));
}

TEST(Interactions, TakeAllNamespacesWithTheFirstByte) {
  const Named u{"a1", "u"}, v{"a2", "v"}, w{"b", "w"};
  EXPECT_EQ(crossed({"ab"}, "y |a1 u |a2 v |b w |c x"),
            features({u, v, w, {"c", "x"}}) + (Features{{cross_of(u, w), 1.0F}, {cross_of(v, w), 1.0F}}));
}

TEST(Interactions, WithinOneNamespaceEachPairOnce) {
  const Named u{"a", "u", 2}, v{"a", "v", 3}, w{"a2", "w", 5};
  const Features expected =
      features({u, v, w}) +
      Features{{unordered_cross_of(u, v), 6.0F}, {unordered_cross_of(u, w), 10.0F}, {unordered_cross_of(v, w), 15.0F}};
  EXPECT_EQ(crossed({"aa"}, "y |a u:2 v:3 |a2 w:5"), expected);
  EXPECT_EQ(crossed({"aa"}, "y |a2 w:5 |a v:3 u:2"), expected);
  EXPECT_EQ(crossed({"aa"}, "y |a u v:3 u |a2 w:5"), expected) << "a repeated feature is one feature";
}

TEST(Interactions, AreNotCrossedAgain) { EXPECT_EQ(crossed({"ab", "bc"}, "y |a u |b v |c w").size(), 5U); }

TEST(Interactions, NeedBothNamespaces) {
  EXPECT_EQ(crossed({"ab", "aa"}, "y |a u"), features({{"a", "u"}}));
  EXPECT_EQ(crossed({"ab"}, "y | u |b v"), features({{"", "u"}, {"b", "v"}}));
}

TEST(Interactions, NameTheirCrosses) {
  std::vector<std::string> told;
  ReadOptions options;
  options.interactions = {"ab"};
  options.on_feature = [&](FeatureHash hash, std::string_view name_space, std::string_view name) {
    if (hash == cross_of({"a", "u"}, {"b", "w"})) told.push_back(std::string(name_space) + "^" + std::string(name));
  };
  parse(Format::kVw, "y |a u |b v w", options);
  EXPECT_EQ(told, (std::vector<std::string>{"ab^u*w"}));
}

TEST(Interactions, RejectProductsAboveTheBound) {
  EXPECT_EQ(crossed({"ab"}, "y |a u:1e15 |b v:1e15").size(), 3U);
  EXPECT_THROW(crossed({"ab"}, "y |a u:1e16 |b v:1e15"), ParseError);
}

TEST(Interactions, RejectALineWhoseCrossesFillTheMemory) {
  std::string line = "y |a";
  for (int i = 0; i < 6000; ++i) line += " " + std::to_string(i);
  EXPECT_THROW(crossed({"aa"}, line), ParseError);
}

TEST(Interactions, MayNameWholeNamespaces) {
  const Named u{"a1", "u", 2}, v{"a2", "v"}, x{"a1", "x"};
  EXPECT_EQ(crossed({"a1:a2"}, "y |a1 u:2 |a2 v |a11 z"),
            features({u, v, {"a11", "z"}}) + (Features{{cross_of(u, v), 2.0F}}));
  EXPECT_EQ(crossed({"a1:a1"}, "y |a1 u:2 x |a2 v"),
            features({u, x, v}) + (Features{{unordered_cross_of(u, x), 2.0F}}));
  EXPECT_EQ(crossed({"a:b"}, "y |a u |b v |ab w"), crossed({"a:b", "zz"}, "y |a u |b v |ab w"));
  EXPECT_EQ(crossed({"a:b"}, "y |a u |b v"), crossed({"ab"}, "y |a u |b v")) << "the same feature either way";
}

TEST(Interactions, AreTwoLettersOrTwoNames) {
  for (const char* bad : {"", "a", "abc", "::", ":::", ":ab", "ab:"}) {
    EXPECT_EQ(error_of(Fault::kUsage, [&] { stream_of({}, {.interactions = {bad}}); }),
              std::string("--interactions ") + bad +
                  ": give the first letters of two namespaces, like ab, or their names, like user:page; repeat the "
                  "option for each pair");
  }
  stream_of({}, {.interactions = {":a", "a:", "a:b", "user:page"}});
}

TEST(Interactions, NeedAFormatWithNamespaces) {
  const Folder folder;
  const auto read = [](const std::string& path) { read_all({path}, {.interactions = {"ab"}}); };
  EXPECT_NE(error_of(Fault::kUsage, [&] { read(folder.write("a", "1 3:1\n")); }), "");
  EXPECT_NE(error_of(Fault::kUsage, [&] { read(folder.write("b", "__label__x y\n")); }), "");
}

}  // namespace
}  // namespace cpt
