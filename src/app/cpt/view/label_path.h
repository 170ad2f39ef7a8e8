// The way from the root to the leaf of a label, node by node, as people look at it.
#pragma once

#include <vector>

#include "cpt/options.h"
#include "model/tree/tree.h"
#include "model/weights/hadamard_code.h"

namespace cpt {

// Throws Error(kUsage) for a model whose labels hang in no tree that says anything of them.
void require_tree(const ModelOptions& options);

struct PathNode {
  BlockId block = 0;
  std::uint8_t slot = 0;  // 1 .. 15
  bool right = false;     // the side that the path takes
};

// The nodes above the leaf of a label of the tree, root first; none if the tree is that single leaf.
std::vector<PathNode> label_path(const Tree& tree, LabelId label);

// The same by nodes of `ways` ways: which child, as a column of the node's code, and how many of the node's levels the
// path takes (fewer than it has where the leaf hangs inside the node).
struct LabelledStep {
  BlockId block = 0;
  WideNode node;
  std::uint32_t column = 0;
  std::uint32_t levels = 0;
};
std::vector<LabelledStep> label_steps(const Tree& tree, int ways, LabelId label);

}  // namespace cpt
