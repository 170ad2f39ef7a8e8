// The interface of all methods of estimating P(label | x), and what the methods without a tree have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"
#include "model/tree/labels.h"
#include "model/tree/tree.h"
#include "model/weights/regressors.h"

namespace cpt {

class Frequencies;

struct Ranked {
  LabelId label = kNoLabel;
  double probability = 0;
};

// The order of results: the more probable label first; of equal ones, the lower id.
inline bool ranks_before(const Ranked& a, const Ranked& b) {
  return a.probability != b.probability ? a.probability > b.probability : a.label < b.label;
}

// Where a new label is inserted: in each tree the leaf of one label is split.
struct Insertion {
  std::vector<LabelId> splits;      // by tree; kNoLabel: the tree is empty
  std::uint32_t disagreements = 0;  // see TreeChange
};

// An unbiased estimate of the sum of P(label)^2 over all labels but `own`, where P is the mean over the trees, from
// labels drawn independently, one from the distribution of each tree. Two equal draws are a sample of the sum of
// products of two trees' probabilities.
double other_squares(std::span<const Ranked> drawn, LabelId own);

// Borrows what it is made from. Const members only read and may run in several threads, each with its own PathState.
class Estimator {
 public:
  virtual ~Estimator() = default;
  Estimator() = default;
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  // Where the label of x, which must be new, would be inserted. Changes nothing.
  virtual Insertion choose_split(const ScaledExample& x) const = 0;

  // Prepares the path state for x and a label of the tree, and may prefetch what predict() will read, or leave that to
  // the caller (PathState::prefetch_rows()). The path state borrows x.
  virtual void locate(const ScaledExample& x, LabelId label, PathState& path_state) const = 0;
  // Whether what locate() found still holds after insertions.
  virtual bool is_current(const PathState& path_state) const = 0;
  // Q(label | x), after locate(). NaN if the weights are not finite. Afterwards path_state.rows are the rows that
  // train() will change.
  virtual double predict(PathState& path_state) const = 0;
  // Learns that x has the path state's label. After predict().
  virtual void train(PathState& path_state) = 0;
  // Does what predict() and train() do, to the last bit, but faster for trees. Calls hook(path_state) between the two,
  // or before both if locate() found all rows.
  using Hook = std::function<void(const PathState&)>;
  virtual double learn(PathState& path_state, const Hook& hook);

  // The k most probable labels, exact, as by ranks_before(). Fewer than k if fewer have a probability of at least
  // `threshold`.
  virtual std::vector<Ranked> top_k(const ScaledExample& x, std::size_t k, double threshold = 0) const = 0;
  // From each tree a label drawn from its Q(. | x), with its probability there; a function of `random`. No tree may be
  // empty. kNoLabel and 0 if all probabilities are 0.
  virtual std::vector<Ranked> draw(const ScaledExample& x, std::uint64_t random) const = 0;
  // Q(label | x) of some labels, in their order, to the last bit what predict() says. Work that the labels share, such
  // as the tops of their paths, is done once.
  virtual std::vector<double> probabilities(const ScaledExample& x, std::span<const LabelId> labels) const = 0;
  // Q(label | x) of every label, by id. O(n).
  virtual std::vector<double> all_probabilities(const ScaledExample& x) const = 0;
};

// Makes the estimator of options.method. It uses either the weights or the frequencies.
std::unique_ptr<Estimator> make_estimator(const ModelOptions& options, std::span<const Tree> trees,
                                          WeightTable& weights, Frequencies& frequencies);
// The seed from which tree t draws, given that of the example.
std::uint64_t draw_seed(std::uint64_t random, std::size_t t);

// Base of the methods that estimate the probabilities of all labels at once, in O(n), without a tree. Their labels are
// in a Tree all the same, a complete one filled level by level, but only because that is how labels are numbered,
// announced, stored and compared between ranks.
class FlatEstimator : public Estimator {
 public:
  Insertion choose_split(const ScaledExample& x) const override;
  bool is_current(const PathState&) const override { return true; }
  std::vector<Ranked> top_k(const ScaledExample& x, std::size_t k, double threshold = 0) const override;
  std::vector<Ranked> draw(const ScaledExample& x, std::uint64_t random) const override;
  std::vector<double> probabilities(const ScaledExample& x, std::span<const LabelId> labels) const override;

 protected:
  FlatEstimator(const Tree& tree, const ModelOptions& options) : tree_(&tree), clip_(options.clip) {}

  std::size_t labels() const { return tree_->labels(); }
  // Turns an estimate >= 0 of a label into its probability, given the sum of the estimates of all labels: divides by
  // the sum (all labels are equally probable if it is 0), then spreads the part `clip` evenly over all labels, so that
  // none has probability 0. The probabilities of all labels add up to 1. NaN if `total` is.
  double normalized(double estimate, double total) const;

 private:
  const Tree* tree_;
  double clip_;
};

// The label whose leaf is split for label i > 0 in a complete tree: of labels 0 .. i - 1, the leftmost of the least
// depth.
LabelId complete_split(LabelId i);

}  // namespace cpt
