// Estimates P(label | x) by a tree, and trains its node regressors: the only one who knows both the tree and the
// weights.
#pragma once

#include <cstdint>
#include <vector>

#include "model/estimators/estimator.h"
#include "model/tree/tree.h"
#include "model/weights/node_regressors.h"
#include "model/weights/weight_table.h"

namespace cpt {

class TreeEstimator final : public Estimator {
 public:
  TreeEstimator(const Tree& tree, WeightTable& weights, const ModelOptions& options);

  // From the root down by the rule of Algorithm 2.
  Insertion settle(const ExampleView& x) const override;

  // Finds the path of the label and the rows of x on it, and asks the memory for none.
  void locate(const ExampleView& x, LabelId label, PathState& path_state) const override;
  // Whether the tree has not moved the path_state's leaf since locate(). Nodes never move, so then the path stands.
  bool stands(const PathState& path_state) const override;
  // Q(label | x) = product of the node probabilities on the path, each kept in [clip, 1 - clip].
  double predict(PathState& path_state) const override;
  // Trains every node of the path towards its side, and the leaf's regressor towards 0.
  void train(PathState& path_state) override { regressors_.train(path_state); }

  // A best-first search that opens a block only when no leaf found so far beats it.
  std::vector<Ranked> top_k(const ExampleView& x, std::size_t k, double threshold = 0) const override;
  // By a path_state down the tree.
  Ranked draw(const ExampleView& x, std::uint64_t random) const override;
  std::vector<double> all_probabilities(const ExampleView& x) const override;

  // P(right), unclipped, of all slots of a block; lane 0 is meaningless. `rows` is scratch.
  Row block_probabilities(const ExampleView& x, BlockId block, std::vector<float*>& rows) const {
    return regressors_.block_probabilities(x, tree_->structure(), block, rows);
  }
  // The weight of a feature at a node: the node's margin is the sum of weight * value over the features of x.
  float weight(FeatureHash feature, BlockId block, std::uint8_t slot) const {
    return regressors_.weight(feature, tree_->link(block), slot);
  }
  // A node probability as predictions use it.
  double clipped(float p) const { return regressors_.clipped(p); }

 private:
  const Tree* tree_;
  ModelOptions options_;
  Regressors regressors_;
};

}  // namespace cpt
