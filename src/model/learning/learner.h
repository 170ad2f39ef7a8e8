// One model: its trees, labels and weights, and the steps of Algorithm 2 of the paper that learn it. Methods other than
// trees also have a tree, which gives labels their ids and nothing else.
//
// A learner does not know whether it is one of many. Choosing where a new label is inserted, applying that change to
// the tree, and training along the path are separate steps. A single rank does one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/input_profile.h"
#include "cpt/example.h"
#include "cpt/hashing.h"
#include "cpt/options.h"
#include "model/estimators/estimator.h"
#include "model/estimators/table.h"
#include "model/rarity/feature_counts.h"
#include "model/tree/labels.h"
#include "model/tree/tree.h"
#include "model/weights/weight_table.h"

namespace cpt {

// An insertion: `label` becomes a leaf of every tree by splitting the leaf of another label.
struct TreeChange {
  std::string label;
  std::vector<LabelId> splits;      // by tree: that other label; kNoLabel for the first label
  std::uint32_t disagreements = 0;  // nodes at which the label went against the regressor's preference
};

// Throws Error(kFailed): the weights have diverged.
[[noreturn]] void throw_diverged();

// Not thread-safe; const members may run in several threads.
class Learner {
 public:
  // Throws Error(kUsage) for options out of range, Error(kFailed) if there is no memory for the weights.
  explicit Learner(const ModelOptions& options);
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  const ModelOptions& options() const { return options_; }
  // At least one; all have the same labels.
  std::span<const Tree> trees() const { return trees_; }
  const Tree& tree(std::size_t number = 0) const { return trees_[number]; }
  const LabelDictionary& labels() const { return labels_; }
  const WeightTable& weights() const { return weights_; }
  WeightTable& weights() { return weights_; }
  // The counts that the method `table` has instead of weights; empty for other methods.
  const Frequencies& frequencies() const { return frequencies_; }
  Frequencies& frequencies() { return frequencies_; }
  bool uses_frequencies() const { return options_.method == Method::kTable; }
  // Not used() if values are not scaled by rarity.
  const FeatureCounts& feature_counts() const { return feature_counts_; }
  FeatureCounts& feature_counts() { return feature_counts_; }
  // The kind of data that the model was trained on; empty if that is not known. Not part of any digest.
  const InputProfile& input() const { return input_; }
  void set_input(InputProfile input) { input_ = std::move(input); }
  // A digest of everything learned.
  std::uint64_t state_digest() const { return weights_.digest() + frequencies_.digest() + feature_counts_.digest(); }
  const Estimator& estimator() const { return *estimator_; }
  // The sum of TreeChange::disagreements of all changes applied.
  std::uint64_t disagreements() const { return disagreements_; }

  // Returns kNoLabel if the label of x is not in the tree.
  LabelId find(const ExampleView& x) const { return labels_.find(x.label, x.label_hash); }

  // Where the label of x, which must be new, would be inserted; see Estimator. Changes nothing.
  TreeChange choose_split(const ScaledExample& x) const;
  TreeChange choose_split(const ExampleView& x) const;
  // Adds the label to the trees. Ranks that apply the same changes in the same order have the same trees.
  LabelId apply(const TreeChange& change);

  // For reading a model: its changes are stored without their disagreements.
  void restore_disagreements(std::uint64_t count) { disagreements_ = count; }

  // x as the estimator takes it. Refers to x and to `room`.
  ScaledExample scaled(const ExampleView& x, ScaledValues& room) const;
  // See Estimator.
  std::vector<Ranked> top_k(const ExampleView& x, std::size_t k, double threshold = 0) const;
  std::vector<Ranked> draw(const ExampleView& x, std::uint64_t random) const;
  // These two throw Error(kFailed) if the weights have diverged.
  std::vector<double> all_probabilities(const ExampleView& x) const;
  std::vector<double> probabilities(const ExampleView& x, std::span<const LabelId> labels) const;

  // Finds the path of a label of the trees, and its rows; see Estimator.
  void locate(const ExampleView& x, LabelId label, PathState& path_state) const;
  // The same if path_state.example is already scaled.
  void locate(LabelId label, PathState& path_state) const { estimator_->locate(path_state.example, label, path_state); }
  bool is_current(const PathState& path_state) const { return estimator_->is_current(path_state); }
  // The two halves of learning an example whose label is in the tree; see Estimator. train() also counts its features.
  // predict() throws Error(kFailed) if the weights have diverged.
  double predict(PathState& path_state) const;
  void train(PathState& path_state) {
    estimator_->train(path_state);
    count_features(path_state);
  }
  // Both at once; see Estimator.
  double learn(PathState& path_state, const Estimator::Hook& hook = {});

  // A digest of the trees and of the labels' names, which must be equal on all ranks.
  std::uint64_t structure_digest() const;
  // A digest of how trees and labels have grown. Compares ranks as well as structure_digest() does, and is kept up to
  // date at no cost.
  std::uint64_t growth_digest() const;

 private:
  void count_features(const PathState& path_state) {
    if (feature_counts_.used()) feature_counts_.add(path_state.example.features, path_state.example.values);
  }
  template <class DigestOf>
  std::uint64_t digest_with_labels(DigestOf digest_of) const;

  ModelOptions options_;
  std::vector<Tree> trees_;
  LabelDictionary labels_;
  WeightTable weights_;
  FeatureCounts feature_counts_;
  Frequencies frequencies_;
  std::unique_ptr<Estimator> estimator_;  // borrows what is above
  std::uint64_t disagreements_ = 0;
  InputProfile input_;
};

}  // namespace cpt
