// Learning the examples of a batch one after another, with the memory asked for ahead of time.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "cpt/example.h"
#include "model/learning/learner.h"
#include "model/learning/losses.h"
#include "model/learning/path_prefetcher.h"
#include "model/tree/label_prefetcher.h"

namespace cpt {

// Examples [begin, end) of a batch.
struct Slice {
  const Batch* batch = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t size() const { return end - begin; }
};

// Takes examples through predict, count, train, in order. Keeps its buffers between calls; not thread-safe.
class InOrder {
 public:
  explicit InOrder(Learner& learner) : learner_(&learner), labels_(learner.labels(), learner.tree()) {}

  // Called with every path_state right before its rows change. Normally empty.
  void before_training(std::function<void(const PathState&)> hook) { before_training_ = std::move(hook); }

  // Algorithm 2 as it is: a new label is settled and joins the tree when its example comes.
  void learn_settling(Slice slice, Losses& losses);
  // All labels are in the tree. `is_new` (by position in the slice) marks examples that count as P = 0: their label
  // joined the tree because of them.
  void learn_settled(Slice slice, const std::vector<bool>& is_new, Losses& losses);
  // Changes nothing; a label that is not in the tree counts as P = 0.
  void predict_only(Slice slice, Losses& losses);

 private:
  struct Slot {
    PathState path_state;
  };

  template <class Visit>
  void walk_ahead(Slice slice, Visit visit);
  void prepare(const ExampleView& x, PathState& path_state) const;
  void learn(PathState& path_state, bool is_new, Losses& losses);

  Learner* learner_;
  LabelPrefetcher labels_;
  std::function<void(const PathState&)> before_training_;
  PathPrefetcher<Slot, 2> ahead_;
};

}  // namespace cpt
