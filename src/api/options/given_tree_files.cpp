#include "api/options/given_tree_files.h"

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "core/number_text.h"
#include "cpt/error.h"
#include "data/format/parse_error.h"
#include "model/tree/given_tree.h"
#include "model/tree/labels.h"

namespace cpt {

namespace {

constexpr std::string_view kHeader = "cpt-tree 1 ";

struct Leaf {
  std::string label;
  std::string path;
  std::uint64_t line = 0;
};

std::uint64_t read_header(ListFile& file) {
  const std::string expected = "'cpt-tree 1 N', N the number of leaves";
  std::string_view line;
  if (!file.next(line)) file.refuse_at(1, expected, "the end of the file");
  const auto leaves = line.starts_with(kHeader) ? parse_all<std::uint64_t>(line.substr(kHeader.size())) : std::nullopt;
  if (!leaves || *leaves > kMostLabels) file.refuse(expected, quote(line));
  return *leaves;
}

Leaf parse_leaf(std::string_view line, const ListFile& file) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos || tab + 1 == line.size()) file.refuse("SIDES, a tab, LABEL", quote(line));
  const std::string_view sides = line.substr(0, tab);
  Leaf leaf{std::string(line.substr(tab + 1)), {}, file.line()};
  if (sides == "-") return leaf;
  if (sides.empty() || sides.find_first_not_of("01") != std::string_view::npos) {
    file.refuse("sides, each 0 or 1, or - for an only leaf", quote(sides));
  }
  leaf.path = sides;
  return leaf;
}

std::vector<Leaf> read_tree_leaves(ListFile& file) {
  const std::uint64_t expected = read_header(file);
  const std::string count = std::to_string(expected) + (expected == 1 ? " leaf" : " leaves");
  std::vector<Leaf> leaves;
  std::string_view line;
  while (file.next(line)) {
    if (leaves.size() == expected) file.refuse(count + " as the first line says, and no more", quote(line));
    leaves.push_back(parse_leaf(line, file));
  }
  if (leaves.size() < expected) {
    file.refuse(count + " as the first line says", "the end of the file after " + std::to_string(leaves.size()));
  }
  return leaves;
}

std::vector<Leaf> read_counted_leaves(ListFile& file) {
  std::vector<Leaf> leaves;
  std::vector<std::uint64_t> counts;
  std::uint64_t sum = 0;
  std::string_view line;
  while (file.next(line)) {
    const std::size_t tab = line.rfind('\t');
    if (tab == std::string_view::npos || tab == 0) file.refuse("LABEL, a tab, COUNT", quote(line));
    const std::optional<std::uint64_t> count = parse_all<std::uint64_t>(line.substr(tab + 1));
    if (!count || *count == 0) file.refuse("a count from 1 to 2^64 - 1", quote(line.substr(tab + 1)));
    sum += *count;
    if (sum < *count) file.refuse("counts that add up to less than 2^64", "more");
    leaves.push_back({std::string(line.substr(0, tab)), {}, file.line()});
    counts.push_back(*count);
  }
  if (leaves.empty()) file.refuse_at(1, "LABEL, a tab, COUNT", "the end of the file");
  std::vector<std::string> paths = huffman_paths(counts);
  for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i].path = std::move(paths[i]);
  return leaves;
}

void require_distinct_labels(const std::vector<Leaf>& leaves, const ListFile& file) {
  std::unordered_map<std::string_view, std::uint64_t> lines;
  lines.reserve(leaves.size());
  for (const Leaf& leaf : leaves) {
    const auto [known, is_new] = lines.emplace(leaf.label, leaf.line);
    if (is_new) continue;
    file.refuse_at(leaf.line, "another label than on line " + std::to_string(known->second), quote(leaf.label));
  }
}

[[noreturn]] void refuse_flaw(const InvalidTree& flaw, const std::vector<Leaf>& leaves, const ListFile& file) {
  const Leaf& leaf = leaves[flaw.leaf()];
  const std::string other = "that of line " + std::to_string(leaves[flaw.other()].line);
  switch (flaw.flaw()) {
    case InvalidTree::Flaw::kSamePath:
      file.refuse_at(leaf.line, "another place than " + other, quote(leaf.path));
    case InvalidTree::Flaw::kBelowLeaf:
      file.refuse_at(leaf.line, "no leaf above this one", other);
    case InvalidTree::Flaw::kOneChild:
      break;
  }
  file.refuse_at(leaf.line, "two children of every node above", "no leaf at or below " + quote(flaw.missing()));
}

std::vector<LeafSplit> leaf_splits_of_leaves(const std::vector<Leaf>& leaves, const ListFile& file) {
  std::vector<std::string_view> paths;
  for (const Leaf& leaf : leaves) paths.emplace_back(leaf.path);
  try {
    return leaf_splits_of(paths);
  } catch (const InvalidTree& flaw) {
    refuse_flaw(flaw, leaves, file);
  }
}

}  // namespace

std::optional<TreeSource> parse_tree_source(std::string_view text) {
  constexpr std::string_view kTree = "file:";
  constexpr std::string_view kCounts = "huffman:";
  TreeSource source;
  if (text.starts_with(kTree)) {
    source = {TreeSource::Kind::kTree, std::string(text.substr(kTree.size()))};
  } else if (text.starts_with(kCounts)) {
    source = {TreeSource::Kind::kCounts, std::string(text.substr(kCounts.size()))};
  }
  if (source.path.empty() || source.path == "-") return std::nullopt;
  return source;
}

std::vector<TreeChange> read_given_tree(const TreeSource& source) {
  ListFile file(source.path);
  return read_given_tree(source.kind, file);
}

std::vector<TreeChange> read_given_tree(TreeSource::Kind kind, ListFile& file) {
  std::vector<Leaf> leaves = kind == TreeSource::Kind::kTree ? read_tree_leaves(file) : read_counted_leaves(file);
  require_distinct_labels(leaves, file);
  std::vector<TreeChange> changes;
  changes.reserve(leaves.size());
  for (const LeafSplit& leaf_split : leaf_splits_of_leaves(leaves, file)) {
    changes.push_back({std::move(leaves[leaf_split.leaf].label), {leaf_split.split}, 0});
  }
  return changes;
}

}  // namespace cpt
