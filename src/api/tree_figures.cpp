#include "api/tree_figures.h"

#include "model/tree/bounds.h"

namespace cpt {

std::vector<std::uint64_t> labels_by_depth(const Tree& tree) {
  std::vector<std::uint64_t> labels;
  for (LabelId label = 0; label < tree.labels(); ++label) {
    const std::size_t depth = tree.depth(label);
    if (depth >= labels.size()) labels.resize(depth + 1);
    ++labels[depth];
  }
  return labels;
}

TreeFigures measure_tree(const Learner& learner) {
  TreeFigures tree;
  tree.is_flat = !learner.options().is_tree();
  tree.labels = learner.tree().labels();
  tree.disagreements = learner.disagreements();
  tree.digest = learner.structure_digest();
  if (tree.labels == 0 || tree.is_flat) return tree;
  const std::vector<std::uint64_t> at_depth = labels_by_depth(learner.tree());
  std::uint64_t sum = 0;
  for (std::size_t depth = 0; depth < at_depth.size(); ++depth) sum += depth * at_depth[depth];
  tree.depth_max = static_cast<std::uint32_t>(at_depth.size() - 1);
  tree.depth_mean = static_cast<double>(sum) / static_cast<double>(tree.labels);
  if (learner.options().bounds_shape()) {
    tree.depth_bound = depth_bound(tree.labels, learner.options().effective_alpha());
  }
  return tree;
}

}  // namespace cpt
