// The tree's estimate of P(label | x): the product of the node probabilities on the path to the label's leaf. Also
// covers nodes of 4, 8 and 16 children (conditional PECOC).
#pragma once

#include <cstdint>
#include <vector>

#include "model/estimators/estimator.h"
#include "model/tree/tree.h"
#include "model/weights/regressors.h"
#include "model/weights/weight_table.h"

namespace cpt {

class TreeEstimator final : public Estimator {
 public:
  TreeEstimator(const Tree& tree, WeightTable& weights, const ModelOptions& options);

  // From the root down by the insertion rule of Algorithm 2.
  Insertion choose_split(const ScaledExample& x) const override;

  // Finds the path of the label and the rows of x on it, and prefetches none of them.
  void locate(const ScaledExample& x, LabelId label, PathState& path_state) const override;
  // Whether the leaf is where it was. Nodes never move, so then the whole path is current.
  bool is_current(const PathState& path_state) const override;
  // Q(label | x), each node probability kept in [clip, 1 - clip].
  double predict(PathState& path_state) const override;
  // Trains every node of the path towards its side, and the leaf's regressor towards 0.
  void train(PathState& path_state) override { regressors_.train(path_state); }

  std::vector<Ranked> top_k(const ScaledExample& x, std::size_t k, double threshold = 0) const override;
  Ranked draw(const ScaledExample& x, std::uint64_t random) const override;
  std::vector<double> all_probabilities(const ScaledExample& x) const override;

  // P(right), unclipped, of all slots of a block; lane 0 is meaningless. `rows` is scratch space.
  Row block_probabilities(const ScaledExample& x, BlockId block, std::vector<float*>& rows) const {
    return regressors_.block_probabilities(x, tree_->structure(), block, rows);
  }
  // See NodeRegressors.
  Estimate block_estimate(const ScaledExample& x, BlockId block, std::vector<float*>& rows) const {
    return regressors_.block_estimate(x, tree_->header(block), rows);
  }
  const Calibrator* calibrator(BlockId block) const { return regressors_.calibrator(tree_->header(block)); }
  float weight(FeatureHash feature, BlockId block, std::uint8_t slot) const {
    return regressors_.weight(feature, tree_->header(block), slot);
  }
  double clipped(float p) const { return regressors_.clipped(p); }

 private:
  const Tree* tree_;
  ModelOptions options_;
  NodeRegressors regressors_;
};

}  // namespace cpt
