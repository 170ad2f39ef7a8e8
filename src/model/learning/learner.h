// Algorithm 2 of the paper: tree, labels and weights of one model, and how they learn. Where the method is not a tree,
// labels hang in one all the same, that gives them their numbers and nothing else.
//
// The learner does not know whether it is one of many: settling a label (where does it go?), applying the structure
// change and training along the path are separate steps, and one rank simply does them one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cpt/example.h"
#include "cpt/hashing.h"
#include "cpt/options.h"
#include "model/estimators/estimator.h"
#include "model/estimators/frequencies.h"
#include "model/tree/labels.h"
#include "model/tree/tree.h"
#include "model/weights/weight_table.h"

namespace cpt {

// "Label `label` becomes a leaf by splitting the leaf of `split`."
struct TreeChange {
  std::string label;
  LabelId split = kNoLabel;         // kNoLabel: the first label of all
  std::uint32_t disagreements = 0;  // nodes on the way at which the label went against the regressor's preference
};

// Says that the weights have diverged: Error(kFailed).
[[noreturn]] void throw_diverged();

// Not thread-safe; const members may run in several threads.
class Learner {
 public:
  // Throws Error(kUsage) for options out of range, Error(kFailed) where the weights find no memory.
  explicit Learner(const ModelOptions& options);
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  const ModelOptions& options() const { return options_; }
  const Tree& tree() const { return tree_; }
  const LabelDictionary& labels() const { return labels_; }
  const WeightTable& weights() const { return weights_; }
  WeightTable& weights() { return weights_; }
  // What the method `table` has instead of weights; empty for others.
  const Frequencies& frequencies() const { return frequencies_; }
  Frequencies& frequencies() { return frequencies_; }
  bool counts() const { return options_.method == Method::kTable; }
  // Of all that was learned, weights or frequencies.
  std::uint64_t state_digest() const { return weights_.digest() + frequencies_.digest(); }
  const Estimator& estimator() const { return *estimator_; }
  // Sum of TreeChange::disagreements of all changes applied.
  std::uint64_t disagreements() const { return disagreements_; }

  // kNoLabel if the label of x is not in the tree.
  LabelId find(const ExampleView& x) const { return labels_.find(x.label, x.label_hash); }

  // Where the label of x, which must be new, would go; see Estimator. Changes nothing.
  TreeChange settle(const ExampleView& x) const;
  // The label joins the tree. Applied in the same order everywhere, changes leave the same tree everywhere.
  LabelId apply(const TreeChange& change);

  // For who reads a model: apply() does not know what its changes once cost.
  void restore_disagreements(std::uint64_t count) { disagreements_ = count; }

  // The two halves of learning an example whose label is in the tree; see Estimator.
  void locate(const ExampleView& x, LabelId label, PathState& path_state) const {
    estimator_->locate(x, label, path_state);
  }
  bool stands(const PathState& path_state) const { return estimator_->stands(path_state); }
  // Throws Error(kFailed) if the weights have diverged.
  double predict(PathState& path_state) const;
  void train(PathState& path_state) { estimator_->train(path_state); }

  // A digest of the tree and of the labels' names: equal on all ranks, or the ranks have different trees.
  std::uint64_t structure_digest() const;
  // The same of how tree and labels have grown: as good, and at no cost.
  std::uint64_t growth_digest() const { return mix(tree_.growth_digest() + labels_.digest()); }

 private:
  ModelOptions options_;
  Tree tree_;
  LabelDictionary labels_;
  WeightTable weights_;
  Frequencies frequencies_;
  std::unique_ptr<Estimator> estimator_;  // borrows what is above
  std::uint64_t disagreements_ = 0;
};

}  // namespace cpt
