// Learning the examples of a batch one after another, with prefetching.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "cpt/example.h"
#include "model/learning/learner.h"
#include "model/learning/losses.h"
#include "model/learning/prefetchers.h"

namespace cpt {

// Examples [begin, end) of a batch.
struct Slice {
  const Batch* batch = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

// Predicts, counts and trains examples in order. Keeps its buffers between calls; not thread-safe.
class InOrder {
 public:
  explicit InOrder(Learner& learner) : learner_(&learner), label_prefetcher_(learner.labels(), learner.trees()) {}

  // The hook is called with every path state right before its rows change. None by default.
  void before_training(Estimator::Hook hook) { before_training_ = std::move(hook); }

  // Algorithm 2 of the paper: a new label is inserted into the tree when its example comes.
  void learn_online(Slice slice, Losses& losses);
  // The same, with P(label | x) of each example before it is learned, 0 for a new label, instead of losses.
  void learn_online(Slice slice, std::span<double> probabilities);
  // For examples whose labels are all in the tree. `is_new`, by position in the slice, marks the examples that count as
  // P = 0, because their label was inserted for them.
  void learn_known(Slice slice, const std::vector<bool>& is_new, Losses& losses);
  // Changes nothing; a label that is not in the tree counts as P = 0.
  void predict_only(Slice slice, Losses& losses);

 private:
  struct Slot {
    PathState path_state;
  };

  template <class Visit>
  void for_each_prefetched(Slice slice, Visit visit);
  // Calls learn(i, path_state, is_new) for the examples of the slice in order.
  template <class Learn>
  void for_each_located(Slice slice, Learn learn);
  void prepare(const ExampleView& x, PathState& path_state) const;
  void learn(PathState& path_state, bool is_new, Losses& losses);

  Learner* learner_;
  LabelPrefetcher label_prefetcher_;
  Estimator::Hook before_training_;
  PathPrefetcher<Slot, 2> path_prefetcher_;
};

}  // namespace cpt
