// Size and shape of a tree.
#pragma once

#include <cstdint>
#include <vector>

#include "cpt/trainer.h"
#include "model/learning/learner.h"

namespace cpt {

// The number of labels by depth of their leaves, up to the greatest depth; empty for an empty tree. Walks the path of
// every label.
std::vector<std::uint64_t> labels_by_depth(const Tree& tree);

TreeFigures measure_tree(const Learner& learner);

}  // namespace cpt
