// Text files that define the tree a run starts from.
//   file:PATH     a tree as `cpt dump` writes it: the line "cpt-tree 1 N", then N leaves in any order, one per line:
//                 SIDES, a tab, LABEL. SIDES lists the sides from the root, 0 = left and 1 = right; - for a single
//                 leaf.
//   huffman:PATH  labels and their counts, one per line: LABEL, a tab, COUNT. A Huffman tree is built from them
//                 (model/tree/given_tree.h).
// Lines end in LF or CRLF and have at most 16 MiB, which bounds the depth of a leaf; empty lines are skipped. A LABEL
// is not empty, and extends to the end of the line, or to its last tab.
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

// Parses "file:PATH" or "huffman:PATH"; nullopt for any other text. PATH cannot be standard input (-), which is for
// examples only.
std::optional<TreeSource> parse_tree_source(std::string_view text);

// Returns the changes that grow the tree from an empty one; see leaf_splits_of() for their order. Throws
// Error(kNoInput) if the file cannot be read; Error(kBadData), with file and line, if it breaks the format or its
// leaves do not form a full binary tree.
std::vector<TreeChange> read_given_tree(const TreeSource& source);
std::vector<TreeChange> read_given_tree(TreeSource::Kind kind, ListFile& file);

}  // namespace cpt
