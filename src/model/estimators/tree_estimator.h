// The trees' estimate of P(label | x): the mean over the trees of the product of the node probabilities on the path to
// the label's leaf. Also covers nodes of 4, 8 and 16 children (conditional PECOC).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/estimators/estimator.h"
#include "model/tree/tree.h"
#include "model/weights/regressors.h"
#include "model/weights/weight_table.h"

namespace cpt {

class TreeEstimator final : public Estimator {
 public:
  // All trees have the same labels.
  TreeEstimator(std::span<const Tree> trees, WeightTable& weights, const ModelOptions& options);

  // From the root of each tree down by the insertion rule of Algorithm 2.
  Insertion choose_split(const ScaledExample& x) const override;

  // Finds the paths of the label and the rows of x on them, and prefetches none of them.
  void locate(const ScaledExample& x, LabelId label, PathState& path_state) const override;
  // Whether the leaves are where they were. Nodes never move, so then the whole paths are current.
  bool is_current(const PathState& path_state) const override;
  // Q(label | x), each node probability kept in [clip, 1 - clip].
  double predict(PathState& path_state) const override;
  // The same for one tree, after predict().
  double of_tree(std::size_t tree, const PathState& path_state) const;
  // Trains every node of the paths towards its side, and the leaves' regressors towards 0.
  void train(PathState& path_state) override { regressors_.train(path_state); }
  double learn(PathState& path_state, const Hook& hook) override;

  std::vector<Ranked> top_k(const ScaledExample& x, std::size_t k, double threshold = 0) const override;
  std::vector<Ranked> draw(const ScaledExample& x, std::uint64_t random) const override;
  std::vector<double> probabilities(const ScaledExample& x, std::span<const LabelId> labels) const override;
  std::vector<double> all_probabilities(const ScaledExample& x) const override;

  const NodeRegressors& regressors() const { return regressors_; }

 private:
  double mean_of_trees(PathState& path_state) const;
  std::vector<Ranked> top_k_of_mean(const ScaledExample& x, std::size_t k, double threshold) const;
  void add_some(const ScaledExample& x, const Tree& tree, std::span<const LabelId> labels,
                std::vector<double>& probabilities) const;
  void add_all(const ScaledExample& x, const Tree& tree, std::vector<double>& probabilities) const;

  std::span<const Tree> trees_;
  std::vector<ModelOptions> options_;  // by tree
  NodeRegressors regressors_;
};

}  // namespace cpt
