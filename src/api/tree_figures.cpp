#include "api/tree_figures.h"

#include <algorithm>

#include "model/tree/bounds.h"

namespace cpt {

std::vector<std::uint64_t> leaves_by_depth(std::span<const Tree> trees) {
  std::vector<std::uint64_t> leaves;
  for (const Tree& tree : trees) {
    for (LabelId label = 0; label < tree.labels(); ++label) {
      const std::size_t depth = tree.depth(label);
      if (depth >= leaves.size()) leaves.resize(depth + 1);
      ++leaves[depth];
    }
  }
  return leaves;
}

TreeFigures measure_tree(const Learner& learner) {
  const ModelOptions& options = learner.options();
  TreeFigures tree;
  tree.is_flat = !options.is_tree();
  tree.trees = learner.trees().size();
  tree.labels = learner.labels().size();
  tree.disagreements = learner.disagreements();
  tree.digest = learner.structure_digest();
  if (tree.labels == 0 || tree.is_flat) return tree;
  const std::vector<std::uint64_t> at_depth = leaves_by_depth(learner.trees());
  std::uint64_t sum = 0;
  for (std::size_t depth = 0; depth < at_depth.size(); ++depth) sum += depth * at_depth[depth];
  tree.depth_max = static_cast<std::uint32_t>(at_depth.size() - 1);
  tree.depth_mean = static_cast<double>(sum) / static_cast<double>(tree.labels * tree.trees);
  if (!options.bounds_shape()) return tree;
  for (std::size_t t = 0; t < tree.trees; ++t) {
    tree.depth_bound = std::max(tree.depth_bound, depth_bound(tree.labels, options.of_tree(t).effective_alpha()));
  }
  return tree;
}

}  // namespace cpt
