// Lists that are cut off, or in which a bit, a byte or a line is another one: they are refused with file and line, or
// mean what they say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "api/options/given_tree_files.h"
#include "data/in_memory.h"
#include "data/text/label_list.h"
#include "data/text/line_reader.h"
#include "model/random_stream.h"
#include "train/job.h"

namespace cpt {
namespace {

using ::testing::MatchesRegex;
using Words = std::vector<std::string>;
using Sides = std::map<std::string, std::string>;  // of each label

// Those that are not empty, without what ends them.
Words lines_of(const std::string& text) {
  Words lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

// Of the tree that the changes grow: the label that was there goes left.
Sides grown(const std::vector<TreeChange>& changes) {
  Sides sides;
  Words labels;
  for (const TreeChange& change : changes) {
    labels.push_back(change.label);
    EXPECT_EQ(sides.count(change.label), 0U);
    if (change.splits.at(0) == kNoLabel) {
      EXPECT_EQ(labels.size(), 1U);
      sides[change.label] = "";
      continue;
    }
    std::string& old = sides.at(labels.at(change.splits[0]));
    sides[change.label] = old + '1';
    old += '0';
  }
  return sides;
}

void expect_tree(const std::string& text, ListFile& file) {
  Sides said;
  const std::vector<TreeChange> changes = read_given_tree(TreeSource::Kind::kTree, file);
  const Words lines = lines_of(text);
  for (const std::string& line : std::span(lines).subspan(1)) {
    const std::string sides = line.substr(0, line.find('\t'));
    said[line.substr(sides.size() + 1)] = sides == "-" ? "" : sides;
  }
  EXPECT_EQ(grown(changes), said);
  EXPECT_EQ(lines[0], "cpt-tree 1 " + lines[0].substr(11));
  EXPECT_EQ(std::stoull(lines[0].substr(11)), said.size());
}

// The rarer of two labels is not above the other one.
void expect_counts(const std::string& text, ListFile& file) {
  const Sides sides = grown(read_given_tree(TreeSource::Kind::kCounts, file));
  std::vector<std::pair<std::uint64_t, std::size_t>> depths;  // by count
  for (const std::string& line : lines_of(text)) {
    const std::size_t tab = line.rfind('\t');
    depths.emplace_back(std::stoull(line.substr(tab + 1)), sides.at(line.substr(0, tab)).size());
  }
  EXPECT_EQ(depths.size(), sides.size());
  for (const auto& [count, depth] : depths) {
    for (const auto& [other_count, other_depth] : depths) EXPECT_FALSE(count > other_count && depth > other_depth);
  }
}

void expect_labels(const std::string& text, ListFile& file) {
  const Words labels = read_label_list(file);
  EXPECT_EQ(labels, lines_of(text));
  EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), labels.size());
}

struct List {
  const char* name;
  std::string text;
  std::function<void(const std::string&, ListFile&)> expect;  // what a text says that is not refused
};

const List kLists[] = {{"Tree", "cpt-tree 1 6\n000\ta\n001\tb b\n01\tc\r\n10\t\td\n\n110\te\n111\t1\n", expect_tree},
                       {"Leaf", "cpt-tree 1 1\n-\tonly\n", expect_tree},
                       {"Counts", "a\t1\nb b\t13\r\n\nc\t\t200\nd\t18446744073709551\ne\t2", expect_counts},
                       {"Labels", "a\nbb\r\n\nc:1\nd\xc3\xa9\nlabel-5", expect_labels}};

class DamagedList : public ::testing::TestWithParam<List> {
 protected:
  // Whether it was taken.
  static bool read(const std::string& text) {
    SCOPED_TRACE("of '" + text + "'");
    const Thrown thrown = thrown_by([&] {
      ListFile file("list", std::make_unique<InMemory>(text));
      GetParam().expect(text, file);
    });
    if (!thrown.fault) return true;
    EXPECT_EQ(thrown.fault, Fault::kBadData);
    EXPECT_THAT(thrown.text, MatchesRegex("list:[0-9]+: expected .*, found .*"));
    const auto lines = static_cast<unsigned long>(std::count(text.begin(), text.end(), '\n'));
    EXPECT_LE(std::stoul(thrown.text.substr(5)), lines + 1);
    return false;
  }
  static std::string intact() { return GetParam().text; }
};
INSTANTIATE_TEST_SUITE_P(Of, DamagedList, ::testing::ValuesIn(kLists),
                         [](const auto& list) { return std::string(list.param.name); });

TEST_P(DamagedList, IsReadAsItIs) { EXPECT_TRUE(read(intact())); }

TEST_P(DamagedList, IsCutOffAnywhere) {
  for (std::size_t length = 0; length < intact().size(); ++length) read(intact().substr(0, length));
  EXPECT_FALSE(read(""));
}

TEST_P(DamagedList, HasABitFlippedAnywhere) {
  std::size_t refused = 0;
  for (std::size_t bit = 0; bit < 8 * intact().size(); ++bit) {
    std::string text = intact();
    text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << bit % 8));
    if (!read(text)) ++refused;
  }
  EXPECT_GT(refused, 0U);
}

TEST_P(DamagedList, HasBytesMoreOrLessOrOthersAnywhere) {
  for (std::size_t at = 0; at < intact().size(); ++at) {
    read(intact().erase(at, 1));
    for (const char byte : std::string("\0\t\n\r 01-a", 9)) {
      read(intact().insert(at, 1, byte));
      read(intact().replace(at, 1, 1, byte));
    }
  }
}

TEST_P(DamagedList, IsPutTogetherFromPiecesOfItself) {
  Dice dice(1);
  const auto piece = [&] {
    const std::string text = intact();
    const std::size_t begin = dice.below(text.size());
    return text.substr(begin, dice.below(text.size()));
  };
  for (int i = 0; i < 2000; ++i) read(intact().substr(0, dice.below(intact().size())) + piece() + piece());
}

// A number that is believed would take all memory.
TEST_P(DamagedList, MayClaimToBeLong) {
  for (const char* number : {"1073741824", "1073741825", "18446744073709551615", "99999999999999999999"}) {
    read("cpt-tree 1 " + std::string(number) + "\n0\ta\n1\tb\n");
    read("a\t" + std::string(number) + "\nb\t" + number + "\n");
  }
}

}  // namespace
}  // namespace cpt
