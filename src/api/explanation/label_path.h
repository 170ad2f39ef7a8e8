// The path of a label through a tree, node by node.
#pragma once

#include <cstdint>
#include <vector>

#include "model/tree/tree.h"
#include "model/weights/hadamard_code.h"

namespace cpt {

struct PathNode {
  BlockId block = 0;
  std::uint8_t slot = 0;           // 1 .. 15
  bool right = false;              // the side that the path takes
  std::uint32_t leaves_left = 0;   // number of leaves on the left side of the node
  std::uint32_t leaves_right = 0;  // ... and on the right side
};

// The nodes above the leaf of `label`, root first; empty if the tree is that single leaf. `label` must be in the tree.
std::vector<PathNode> label_path(const Tree& tree, LabelId label);

// A step of the path through a node of `arity` branches.
struct LabelledStep {
  BlockId block = 0;
  WideNode node;
  std::uint32_t column = 0;  // the child, as a column of the node's code
  std::uint32_t levels = 0;  // levels of the node that the path takes: fewer than all if the leaf is inside the node
};
std::vector<LabelledStep> label_steps(const Tree& tree, int arity, LabelId label);

}  // namespace cpt
