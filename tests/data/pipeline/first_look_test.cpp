// The first look at a file: what options name in vain, and where it ends.
#include "data/pipeline/first_look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "data/folder.h"

namespace cpt {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AtFirstLook : public ::testing::Test {
 protected:
  FirstLook look(const std::string& name, const std::string& content, ReadOptions options) const {
    return look_at(find_shards({folder_.write(name, content)}).at(0), std::move(options));
  }

 private:
  Folder folder_;
};

TEST_F(AtFirstLook, WhatNoLineHasIsNamed) {
  const std::string line = R"({"label": "a", "user": "u1", "words": ["x", "y"], "page": {"id": 7}, "w": null})";
  ReadOptions options;
  options.fields = {.importance = "weight", .text = {"title"}, .categorical = {"page.id", "id"}, .ignored = {"page.x"}};
  options.interactions = {"wp", "ux"};
  options.ngrams = {"words:2", "nope:3"};
  const std::string in_json = " (keys of the outermost object are in none)";
  EXPECT_THAT(look("a.json", line + "\n", options).missing,
              ElementsAre("the key 'weight' of --importance-key", "the key 'title' of --text-keys",
                          "the key 'id' of --categorical-keys", "the key 'page.x' of --ignore-keys",
                          "a namespace that begins with 'u', for --interactions ux" + in_json,
                          "a namespace that begins with 'x', for --interactions ux" + in_json,
                          "the namespace 'nope' of --ngrams"));
  options.fields = {.importance = "w", .text = {"words"}, .ignored = {"user"}};
  options.interactions = {"wp", "pp"};
  options.ngrams = {"words:2"};
  EXPECT_THAT(look("b.json", line + "\n", options).missing, IsEmpty());
}

TEST_F(AtFirstLook, NamespacesOfVwLinesCount) {
  ReadOptions options;
  options.interactions = {"ab", "ac"};
  options.ngrams = {":2", "bb:2", "b:2"};
  EXPECT_THAT(look("a.vw", "l |a x |bb y\nl | z\n", options).missing,
              ElementsAre("a namespace that begins with 'c', for --interactions ac", "the namespace 'b' of --ngrams"));
}

TEST_F(AtFirstLook, EnoughFeaturesAreEnough) {
  std::string line = "l |a";
  for (int i = 0; i < 500; ++i) line += " w" + std::to_string(i);
  ReadOptions options;
  options.interactions = {"aa"};
  const FirstLook seen = look("wide.vw", line + "\n" + line + "\n", options);
  EXPECT_EQ(seen.lines, 1U);
  EXPECT_EQ(seen.features.size(), 100'000U);
}

}  // namespace
}  // namespace cpt
