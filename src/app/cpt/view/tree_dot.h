// The tree as a drawing in the language of Graphviz.
#pragma once

#include "app/cpt/io/result_writer.h"
#include "model/tree/labels.h"
#include "model/tree/tree.h"

namespace cpt {

// Nodes show how many leaves are below them, leaves (boxes) the name of their label, edges L or R. Prints as it goes,
// so the tree may be large.
void print_dot(const Tree& tree, const LabelDictionary& labels, ResultWriter& out);

}  // namespace cpt
