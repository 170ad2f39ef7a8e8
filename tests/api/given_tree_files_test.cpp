// Text files that give a tree, and what is wrong with those that do not.
#include "api/options/given_tree_files.h"

#include <gmock/gmock.h>

#include "train/job.h"

namespace cpt {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(TreeSource, IsAWordAndAPath) {
  EXPECT_EQ(parse_tree_source("file:a/b:c")->path, "a/b:c");
  EXPECT_EQ(parse_tree_source("file:a")->kind, TreeSource::Kind::kTree);
  EXPECT_EQ(parse_tree_source("huffman:a")->kind, TreeSource::Kind::kCounts);
  for (const char* text : {"", "online", "file", "file:", "huffman:", "file:-", "huffman:-", "File:a", "tree:a"}) {
    EXPECT_FALSE(parse_tree_source(text).has_value()) << text;
  }
}

class GivenTreeFiles : public ::testing::Test {
 protected:
  using Kind = TreeSource::Kind;

  // "label < label that it splits", in the order of leaf_split.
  std::vector<std::string> changes(Kind kind, const std::string& text) const {
    std::vector<std::string> said;
    std::vector<std::string> labels;
    for (const TreeChange& change : read_given_tree({kind, folder_.write("tree", text)})) {
      said.push_back(change.label + (change.splits.at(0) == kNoLabel ? "" : " < " + labels.at(change.splits[0])));
      labels.push_back(change.label);
      EXPECT_EQ(change.disagreements, 0U);
    }
    return said;
  }

  void expect_refused(Kind kind, const std::string& text, const std::string& reason) const {
    const Thrown thrown = thrown_by([&] { changes(kind, text); });
    EXPECT_EQ(thrown.fault, Fault::kBadData) << text;
    EXPECT_THAT(thrown.text, EndsWith("/tree:" + reason));
  }

  Folder folder_;
};

TEST_F(GivenTreeFiles, AreTreesWithTheirLeavesInAnyOrder) {
  EXPECT_THAT(changes(Kind::kTree, "cpt-tree 1 3\n0\ta\n10\tb\n11\tc\n"), ElementsAre("a", "b < a", "c < b"));
  EXPECT_THAT(changes(Kind::kTree, "cpt-tree 1 3\n11\tc\n10\tb\n0\ta\n"), ElementsAre("a", "b < a", "c < b"));
  EXPECT_THAT(changes(Kind::kTree, "cpt-tree 1 4\n11\td\n01\tb\n10\tc\n00\ta\n"),
              ElementsAre("a", "c < a", "d < c", "b < a"));
  EXPECT_THAT(changes(Kind::kTree, "cpt-tree 1 1\n-\tonly\n"), ElementsAre("only"));
  EXPECT_THAT(changes(Kind::kTree, "cpt-tree 1 0\n"), IsEmpty());
}

TEST_F(GivenTreeFiles, HaveLabelsOfAnyCharacters) {
  EXPECT_THAT(changes(Kind::kTree, "cpt-tree 1 2\r\n0\t two words\t\r\n\r\n1\t-"),
              ElementsAre(" two words\t", "- <  two words\t"));
  EXPECT_THAT(changes(Kind::kCounts, "\ttab\t7\n"), ElementsAre("\ttab"));
}

TEST_F(GivenTreeFiles, AreCountsOfWhichHuffmansTreeIsBuilt) {
  EXPECT_THAT(changes(Kind::kCounts, "rare\t1\nless\t2\ncommon\t5\n"),
              ElementsAre("common", "less < common", "rare < less"));
  EXPECT_THAT(changes(Kind::kCounts, "a\t18446744073709551614\r\nb\t1\r\n"), ElementsAre("a", "b < a"));
  EXPECT_THAT(changes(Kind::kCounts, "one\t3"), ElementsAre("one"));
}

TEST_F(GivenTreeFiles, AreRefusedWithoutTheirFirstLine) {
  const std::string expected = "1: expected 'cpt-tree 1 N', N the number of leaves, found ";
  expect_refused(Kind::kTree, "", expected + "the end of the file");
  expect_refused(Kind::kTree, "0\ta\n1\tb\n", expected + "'0\\ta'");
  for (const char* line : {"cpt-tree 1", "cpt-tree 1 ", "cpt-tree 1 -1", "cpt-tree 1 2 ", "cpt-tree 1 x",
                           "cpt-tree 2 2", "cpt-tree 1 99999999999", "cpt-tree 1 99999999999999999999999"}) {
    expect_refused(Kind::kTree, line, expected + "'" + line + "'");
  }
}

TEST_F(GivenTreeFiles, AreRefusedWithAnotherNumberOfLeaves) {
  expect_refused(Kind::kTree, "cpt-tree 1 3\n0\ta\n1\tb\n",
                 "3: expected 3 leaves as the first line says, found the end of the file after 2");
  expect_refused(Kind::kTree, "cpt-tree 1 1\n0\ta\n1\tb\n",
                 "3: expected 1 leaf as the first line says, and no more, found '1\\tb'");
}

TEST_F(GivenTreeFiles, AreRefusedForALineThatIsNoLeaf) {
  const std::string line = "3: expected SIDES, a tab, LABEL, found ";
  expect_refused(Kind::kTree, "cpt-tree 1 2\n0\ta\n1 b\n", line + "'1 b'");
  expect_refused(Kind::kTree, "cpt-tree 1 2\n0\ta\n1\t\n", line + "'1\\t'");
  const std::string sides = "2: expected sides, each 0 or 1, or - for an only leaf, found ";
  expect_refused(Kind::kTree, "cpt-tree 1 2\n0L\ta\n1\tb\n", sides + "'0L'");
  expect_refused(Kind::kTree, "cpt-tree 1 2\n\ta\n1\tb\n", sides + "''");
  expect_refused(Kind::kTree, "cpt-tree 1 2\n" + std::string((1 << 24) + 1, '0'),
                 "2: expected at most 16 MiB in a line, found more");
}

TEST_F(GivenTreeFiles, AreRefusedForLeavesThatMakeNoTree) {
  expect_refused(Kind::kTree, "cpt-tree 1 3\n0\ta\n1\tb\n0\tc\n",
                 "4: expected another place than that of line 2, found '0'");
  expect_refused(Kind::kTree, "cpt-tree 1 3\n0\ta\n1\tb\n10\tc\n",
                 "4: expected no leaf above this one, found that of line 3");
  expect_refused(Kind::kTree, "cpt-tree 1 2\n0\ta\n-\tb\n", "2: expected no leaf above this one, found that of line 3");
  expect_refused(Kind::kTree, "cpt-tree 1 2\n0\ta\n11\tb\n",
                 "3: expected two children of every node above, found no leaf at or below '10'");
  expect_refused(Kind::kTree, "cpt-tree 1 2\n" + std::string(200, '0') + "\ta\n1\tb\n",
                 "2: expected two children of every node above, found no leaf at or below '01'");
}

TEST_F(GivenTreeFiles, AreRefusedForALabelThatComesTwice) {
  expect_refused(Kind::kTree, "cpt-tree 1 3\n0\ta\n10\tb\n\n11\ta\n",
                 "5: expected another label than on line 2, found 'a'");
  expect_refused(Kind::kCounts, "a\t1\nb\t2\na\t1\n", "3: expected another label than on line 1, found 'a'");
}

TEST_F(GivenTreeFiles, AreRefusedForACountThatIsNone) {
  expect_refused(Kind::kCounts, "", "1: expected LABEL, a tab, COUNT, found the end of the file");
  expect_refused(Kind::kCounts, "a 1\n", "1: expected LABEL, a tab, COUNT, found 'a 1'");
  expect_refused(Kind::kCounts, "\t1\n", "1: expected LABEL, a tab, COUNT, found '\\t1'");
  for (const char* count : {"", "0", "-1", "+1", "1.5", "1e3", " 1", "1 ", "many", "18446744073709551616"}) {
    expect_refused(Kind::kCounts, "a\t1\nb\t" + std::string(count) + "\n",
                   "2: expected a count from 1 to 2^64 - 1, found '" + std::string(count) + "'");
  }
  expect_refused(Kind::kCounts, "a\t18446744073709551615\nb\t1\n",
                 "2: expected counts that add up to less than 2^64, found more");
}

TEST_F(GivenTreeFiles, MustBeThere) {
  for (const Kind kind : {Kind::kTree, Kind::kCounts}) {
    const Thrown thrown = thrown_by([&] { read_given_tree({kind, (folder_ / "nowhere").string()}); });
    EXPECT_EQ(thrown.fault, Fault::kNoInput);
    EXPECT_THAT(thrown.text, AllOf(HasSubstr("nowhere"), HasSubstr("No such file")));
  }
}

}  // namespace
}  // namespace cpt
