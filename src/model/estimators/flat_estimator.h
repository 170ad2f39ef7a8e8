// What methods have in common that estimate the probabilities of all labels at once, in O(n), and know no tree.
//
// Their labels still hang in one: it is how labels are numbered, announced, stored and compared between ranks. Nothing
// is estimated by it. It is the complete tree that takes the labels level by level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/estimators/estimator.h"
#include "model/tree/tree.h"

namespace cpt {

class FlatEstimator : public Estimator {
 public:
  Insertion settle(const ExampleView& x) const override;
  bool stands(const PathState&) const override { return true; }
  std::vector<Ranked> top_k(const ExampleView& x, std::size_t k, double threshold = 0) const override;
  Ranked draw(const ExampleView& x, std::uint64_t random) const override;

 protected:
  FlatEstimator(const Tree& tree, const ModelOptions& options) : tree_(&tree), clip_(options.clip) {}

  std::size_t labels() const { return tree_->labels(); }
  // The probability of a label, from an estimate of it that is not negative, and the sum of those of all labels: the
  // estimate is divided by the sum (all labels are equally probable where that is 0), and the part `clip` is then
  // spread evenly over all labels, so that none has probability 0. Probabilities of all labels add up to 1. NaN if
  // `total` is.
  double share(double estimate, double total) const;

 private:
  const Tree* tree_;
  double clip_;
};

// The label whose leaf splits for the label i > 0 of a complete tree: of those before it, the leftmost of the least
// depth.
LabelId complete_split(LabelId i);

}  // namespace cpt
