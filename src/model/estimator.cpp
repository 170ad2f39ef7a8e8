#include "model/estimator.h"

namespace cpt {

Estimator::Estimator(const Tree& tree, WeightTable& weights, const ModelOptions& options)
    : tree_(&tree), regressors_(weights, options) {}

void Estimator::locate(const ExampleView& x, LabelId label, Walk& walk) const {
  walk.example = x;
  walk.label = label;
  tree_->path(label, walk.path);
  regressors_.locate(tree_->structure(), true, walk);
}

bool Estimator::stands(const Walk& walk) const {
  const Hop leaf = tree_->leaf(walk.label);
  return leaf.block == walk.path.back().block && leaf.place == walk.path.back().place;
}

double Estimator::predict(Walk& walk) const {
  regressors_.predict(tree_->structure(), walk);
  // The hops of one partition are multiplied with one another first: then the product is the same, to the last bit,
  // where each partition's part is computed somewhere else.
  double shallow = 1;
  double deep = 1;
  for (std::size_t b = 0; b < walk.path.size(); ++b) (b < 2 ? shallow : deep) *= regressors_.hop_probability(walk, b);
  return shallow * deep;
}

}  // namespace cpt
