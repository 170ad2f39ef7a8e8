// What there is to know of a tree's shape.
#pragma once

#include <cstdint>
#include <vector>

#include "cpt/trainer.h"
#include "model/learning/learner.h"

namespace cpt {

// [depth] -> labels whose leaf has it, up to the greatest depth; empty for an empty tree. O(n) short paths.
std::vector<std::uint64_t> labels_by_depth(const Tree& tree);

TreeFigures measure_tree(const Learner& learner);

}  // namespace cpt
