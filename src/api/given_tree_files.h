// Text files that say what tree a run begins with.
//   file:PATH     the tree, as `cpt dump` writes it: the line "cpt-tree 1 N", then N leaves in any order, a line each:
//                 SIDES, a tab, LABEL. SIDES are those from the root on, 0 = left and 1 = right, or - for an only leaf.
//   huffman:PATH  labels and how often they come: LABEL, a tab, COUNT. Of these a Huffman tree is built (model/tree/given_tree.h).
// Lines end in LF or CRLF and have at most 16 MiB, so no leaf is deeper than that; empty lines are skipped. A LABEL is
// not empty, and all up to the end of the line or up to its last tab.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/line_reader.h"
#include "model/learning/learner.h"

namespace cpt {

struct TreeSource {
  enum class Kind : std::uint8_t { kTree, kCounts };
  Kind kind = Kind::kTree;
  std::string path;
};

// Of "file:PATH" or "huffman:PATH"; nothing if the text is anything else. Standard input (-) is for examples only.
std::optional<TreeSource> parse_tree_source(std::string_view text);

// The changes that grow it in an empty tree; see leaf_splits_of() for their order. Throws Error: kNoInput if the file
// cannot be read, kBadData, with file and line, where it breaks its format or its leaves make no full binary tree.
std::vector<TreeChange> read_given_tree(const TreeSource& source);
std::vector<TreeChange> read_given_tree(TreeSource::Kind kind, ListFile& file);

}  // namespace cpt
