// Views of a tree for people: the path of a label, node by node, and the whole tree as a drawing for Graphviz.
#pragma once

#include <cstdint>
#include <vector>

#include "app/cpt/io/result_writer.h"
#include "app/shared/command_line.h"
#include "cpt/options.h"
#include "model/learning/learner.h"
#include "model/tree/labels.h"
#include "model/tree/tree.h"
#include "model/weights/hadamard_code.h"

namespace cpt {

// Throws Error(kUsage) if the model's method has no tree.
void require_tree(const ModelOptions& options);

struct PathNode {
  BlockId block = 0;
  std::uint8_t slot = 0;           // 1 .. 15
  bool right = false;              // the side that the path takes
  std::uint32_t leaves_left = 0;   // number of leaves on the left side of the node
  std::uint32_t leaves_right = 0;  // ... and on the right side
};

// The tree that a user calls number 1, 2, ...; throws Error(kUsage) if the model has none of this number, or no tree.
const Tree& shown_tree(const Learner& learner, std::uint64_t number);
void add_tree_option(CLI::App& command, std::uint64_t& number);

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

// Draws the tree in the language of Graphviz. Nodes show the number of leaves below them, leaves (boxes) the name of
// their label, edges L or R. The text is written piece by piece, so the tree may be large.
void print_dot(const Tree& tree, const LabelDictionary& labels, ResultWriter& out);

}  // namespace cpt
