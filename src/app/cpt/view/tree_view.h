// Views of a tree for people: which one to show, and its drawing for Graphviz.
#pragma once

#include <cstdint>

#include "app/cpt/io/result_writer.h"
#include "app/shared/command_line.h"
#include "cpt/options.h"
#include "model/learning/learner.h"
#include "model/tree/labels.h"
#include "model/tree/tree.h"

namespace cpt {

// Throws Error(kUsage) if the model's method has no tree.
void require_tree(const ModelOptions& options);

// The tree that a user calls number 1, 2, ...; throws Error(kUsage) if the model has none of this number, or no tree.
const Tree& shown_tree(const Learner& learner, std::uint64_t number);
void add_tree_option(CLI::App& command, std::uint64_t& number);

// Draws the tree in the language of Graphviz. Nodes show the number of leaves below them, leaves (boxes) the name of
// their label, edges L or R. The text is written piece by piece, so the tree may be large.
void print_dot(const Tree& tree, const LabelDictionary& labels, ResultWriter& out);

}  // namespace cpt
