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
  const FirstLook seen = look("a.json", line + "\n", options);
  EXPECT_THAT(seen.missing_keys, ElementsAre("the key 'weight' of --importance-key", "the key 'title' of --text-keys",
                                             "the key 'id' of --categorical-keys"));
  EXPECT_THAT(seen.missing_ignored, ElementsAre("the key 'page.x' of --ignore-keys"));
  EXPECT_THAT(seen.missing_name_spaces, ElementsAre("a namespace that begins with 'u', for --interactions ux" + in_json,
                                                    "a namespace that begins with 'x', for --interactions ux" + in_json,
                                                    "the namespace 'nope' of --ngrams"));
  options.fields = {.importance = "w", .text = {"words"}, .ignored = {"user"}};
  options.interactions = {"wp", "pp"};
  options.ngrams = {"words:2"};
  const FirstLook all = look("b.json", line + "\n", options);
  EXPECT_THAT(all.missing_keys, IsEmpty());
  EXPECT_THAT(all.missing_ignored, IsEmpty());
  EXPECT_THAT(all.missing_name_spaces, IsEmpty());
}

TEST_F(AtFirstLook, WhatOnlyTrainingNeedsIsNotMissedWhereLabelsAreNotRequired) {
  ReadOptions options;
  options.fields = {.importance = "weight", .text = {"title"}};
  options.labels_required = false;
  EXPECT_THAT(look("a.json",
                   R"({"user": "u1"})"
                   "\n",
                   options)
                  .missing_keys,
              ElementsAre("the key 'title' of --text-keys"));
}

// Other columns that are missing are an error.
TEST_F(AtFirstLook, ColumnsToIgnoreAreNamed) {
  ReadOptions options;
  options.fields = {.text = {"title"}, .ignored = {"id", "price"}};
  const FirstLook seen = look("a.csv", "label,title,price\na,b c,7\n", options);
  EXPECT_THAT(seen.missing_keys, IsEmpty());
  EXPECT_THAT(seen.missing_ignored, ElementsAre("the column 'id' of --ignore-columns"));
  EXPECT_EQ(warning_of_missing(seen, "a.csv", seen.missing_ignored[0]),
            "a.csv: no line of the first 2 has the column 'id' of --ignore-columns");
}

TEST_F(AtFirstLook, VwLabelsThatAreListsAreCounted) {
  const FirstLook seen = look("a.vw", "a | x\n1,2 | x\n1:0.4 | x\nb:0.4 | x\n1:c | x\n", {});
  EXPECT_EQ(seen.lists_as_label, 2U);
  EXPECT_EQ(seen.list_as_label, "1,2");
  EXPECT_EQ(look("b.vw", "1:2:0.5 | x\n1:b:0.5 | x\na:1:0.5 | x\n", {}).lists_as_label, 1U)
      << "action:cost:probability";
  EXPECT_EQ(look("a.svm", "1,2 1:3\n", {}).lists_as_label, 0U);
}

TEST_F(AtFirstLook, NamespacesOfVwLinesCount) {
  ReadOptions options;
  options.interactions = {"ab", "ac", "a:bb", "a:b"};
  options.ngrams = {":2", "bb:2", "b:2"};
  EXPECT_THAT(look("a.vw", "l |a x |bb y\nl | z\n", options).missing_name_spaces,
              ElementsAre("a namespace that begins with 'c', for --interactions ac",
                          "the namespace 'b', for --interactions a:b", "the namespace 'b' of --ngrams"));
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
