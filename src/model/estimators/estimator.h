// What a method of estimating P(label | x) is to those who learn and ask: one interface for trees and for methods that
// look at every label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"
#include "model/tree/labels.h"
#include "model/weights/node_regressors.h"

namespace cpt {

class Frequencies;
class Tree;
class WeightTable;

struct Ranked {
  LabelId label = kNoLabel;
  double probability = 0;
};

// Where a new label hangs in the tree: at the leaf of `split`, which splits.
struct Insertion {
  LabelId split = kNoLabel;         // kNoLabel: the tree is empty
  std::uint32_t disagreements = 0;  // see TreeChange
};

// Borrows what it is made from. Const members only read and may run in several threads, each with its own PathState.
class Estimator {
 public:
  virtual ~Estimator() = default;
  Estimator() = default;
  Estimator(const Estimator&) = delete;
  Estimator& operator=(const Estimator&) = delete;

  // Where the label of x, which must be new, would hang. Changes nothing.
  virtual Insertion settle(const ExampleView& x) const = 0;

  // Takes up x and a label of the tree; may ask the memory for what predict() will need, or leave it to the caller
  // (PathState::ask_for_rows). The path_state borrows x.
  virtual void locate(const ExampleView& x, LabelId label, PathState& path_state) const = 0;
  // Whether what locate() found still holds, labels having joined since.
  virtual bool stands(const PathState& path_state) const = 0;
  // Q(label | x), after locate(). NaN if the weights are not finite. Afterwards path_state.rows are those that train()
  // will change.
  virtual double predict(PathState& path_state) const = 0;
  // Learns that x has the path_state's label. After predict().
  virtual void train(PathState& path_state) = 0;

  // The k most probable labels, best first, exact. Equal probabilities: the lower label id first. Fewer than k if the
  // tree has fewer labels, or if fewer have a probability of at least `threshold`.
  virtual std::vector<Ranked> top_k(const ExampleView& x, std::size_t k, double threshold = 0) const = 0;
  // A label drawn from Q(. | x), with its probability; `random` supplies the coins. The tree must not be empty.
  // kNoLabel and 0 where all probabilities are 0.
  virtual Ranked draw(const ExampleView& x, std::uint64_t random) const = 0;
  // Q(label | x) of every label, by id. O(n).
  virtual std::vector<double> all_probabilities(const ExampleView& x) const = 0;
};

// That of options.method. It uses either the weights or the frequencies.
std::unique_ptr<Estimator> make_estimator(const ModelOptions& options, const Tree& tree, WeightTable& weights,
                                          Frequencies& frequencies);

}  // namespace cpt
