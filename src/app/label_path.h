// The way from the root to the leaf of a label, node by node, as people look at it.
#pragma once

#include <vector>

#include "model/tree.h"

namespace cpt {

struct PathNode {
  BlockId block = 0;
  std::uint8_t slot = 0;  // 1 .. 15
  bool right = false;     // the side that the path takes
};

// The nodes above the leaf of a label of the tree, root first; none if the tree is that single leaf.
std::vector<PathNode> label_path(const Tree& tree, LabelId label);

}  // namespace cpt
