#include "model/estimators/tree_estimator.h"

#include "model/weights/block_steps.h"

namespace cpt {

TreeEstimator::TreeEstimator(const Tree& tree, WeightTable& weights, const ModelOptions& options)
    : tree_(&tree), options_(options), regressors_(weights, options) {}

Insertion TreeEstimator::settle(const ExampleView& x) const {
  if (tree_->empty()) return {};
  std::vector<float*> rows;
  Settling settling = begin_settling(options_, tree_->labels());
  for (BlockId block = 0;;) {
    const BlockNodes& content = tree_->content(block);
    const Row p = block_probabilities(x, block, rows);
    const Child child = content.child[settle_in_block(p, content, options_, settling)];
    if (child.kind() == Child::Kind::kLeaf) return {child.label(), settling.disagreements};
    block = child.block();
  }
}

void TreeEstimator::locate(const ExampleView& x, LabelId label, PathState& path_state) const {
  path_state.example = x;
  path_state.label = label;
  tree_->path(label, path_state.path);
  regressors_.locate(tree_->structure(), true, path_state);
}

bool TreeEstimator::stands(const PathState& path_state) const {
  const PathStep leaf = tree_->leaf(path_state.label);
  return leaf.block == path_state.path.back().block && leaf.place == path_state.path.back().place;
}

double TreeEstimator::predict(PathState& path_state) const {
  regressors_.predict(tree_->structure(), path_state);
  // The hops of one partition are multiplied with one another first: then the product is the same, to the last bit,
  // where each partition's part is computed somewhere else.
  double shallow = 1;
  double deep = 1;
  for (std::size_t b = 0; b < path_state.path.size(); ++b)
    (b < 2 ? shallow : deep) *= regressors_.hop_probability(path_state, b);
  return shallow * deep;
}

}  // namespace cpt
