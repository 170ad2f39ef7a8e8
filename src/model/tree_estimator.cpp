#include "model/tree_estimator.h"

#include "model/block_steps.h"

namespace cpt {

TreeEstimator::TreeEstimator(const Tree& tree, WeightTable& weights, const ModelOptions& options)
    : tree_(&tree), options_(options), regressors_(weights, options) {}

Placing TreeEstimator::settle(const ExampleView& x) const {
  if (tree_->empty()) return {};
  std::vector<float*> lines;
  Settling settling = begin_settling(options_, tree_->labels());
  for (BlockId block = 0;;) {
    const BlockContent& content = tree_->content(block);
    const Line p = block_probabilities(x, block, lines);
    const Child child = content.child[settle_in_block(p, content, options_, settling)];
    if (child.kind() == Child::Kind::kLeaf) return {child.label(), settling.disagreements};
    block = child.block();
  }
}

void TreeEstimator::locate(const ExampleView& x, LabelId label, Walk& walk) const {
  walk.example = x;
  walk.label = label;
  tree_->path(label, walk.path);
  regressors_.locate(tree_->structure(), true, walk);
}

bool TreeEstimator::stands(const Walk& walk) const {
  const Hop leaf = tree_->leaf(walk.label);
  return leaf.block == walk.path.back().block && leaf.place == walk.path.back().place;
}

double TreeEstimator::predict(Walk& walk) const {
  regressors_.predict(tree_->structure(), walk);
  // The hops of one partition are multiplied with one another first: then the product is the same, to the last bit,
  // where each partition's part is computed somewhere else.
  double shallow = 1;
  double deep = 1;
  for (std::size_t b = 0; b < walk.path.size(); ++b) (b < 2 ? shallow : deep) *= regressors_.hop_probability(walk, b);
  return shallow * deep;
}

}  // namespace cpt
