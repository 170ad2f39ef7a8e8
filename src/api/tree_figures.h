// Size and shape of the trees of a model.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cpt/trainer.h"
#include "model/learning/learner.h"

namespace cpt {

// The number of leaves by their depth, summed over the trees, up to the greatest depth; empty for empty trees. Walks
// the path of every label.
std::vector<std::uint64_t> leaves_by_depth(std::span<const Tree> trees);

TreeFigures measure_tree(const Learner& learner);

}  // namespace cpt
