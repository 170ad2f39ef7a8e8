// Estimates P(label | x) and trains the node regressors: the only one who knows both the tree and the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"
#include "model/regressors.h"
#include "model/tree.h"
#include "model/weight_table.h"

namespace cpt {

// Borrows the tree and the weights. Const members only read and may run in several threads, each with its own Walk.
class Estimator {
 public:
  Estimator(const Tree& tree, WeightTable& weights, const ModelOptions& options);

  // Finds the path of a label of the tree and the lines of x on it, and asks the memory for them. The walk borrows x.
  void locate(const ExampleView& x, LabelId label, Walk& walk) const;
  // Whether the tree has not moved the walk's leaf since locate(). Nodes never move, so then the path stands.
  bool stands(const Walk& walk) const;
  // Q(label | x) = product of the node probabilities on the path, each kept in [clip, 1 - clip]. After locate().
  // NaN if the weights are not finite.
  double predict(Walk& walk) const;
  // Trains every node of the path towards its side, and the leaf's regressor towards 0. After predict().
  void train(Walk& walk) { regressors_.train(walk); }

  // P(right), unclipped, of all slots of a block; lane 0 is meaningless. `lines` is scratch.
  Line block_probabilities(const ExampleView& x, BlockId block, std::vector<float*>& lines) const {
    return regressors_.block_probabilities(x, tree_->structure(), block, lines);
  }
  // The weight of a feature at a node: the node's margin is the sum of weight * value over the features of x.
  float weight(FeatureHash feature, BlockId block, std::uint8_t slot) const {
    return regressors_.weight(feature, tree_->link(block), slot);
  }
  // A node probability as predictions use it.
  double clipped(float p) const { return regressors_.clipped(p); }

  const Tree& tree() const { return *tree_; }
  const Regressors& regressors() const { return regressors_; }

 private:
  const Tree* tree_;
  Regressors regressors_;
};

}  // namespace cpt
