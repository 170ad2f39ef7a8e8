#include "model/in_order.h"

namespace cpt {

void InOrder::prepare(const ExampleView& x, Walk& walk) const {
  walk.example = x;
  walk.label = learner_->find(x);
  if (walk.label != kNoLabel) learner_->locate(x, walk.label, walk);
}

// Calls visit(i, walk) for every example of the slice in order.
template <class Visit>
void InOrder::walk_ahead(Slice slice, Visit visit) {
  ahead_.each(
      slice.begin, slice.end,
      [&](std::size_t i, Slot& slot) {
        labels_.ask(*slice.batch, i, slice.end);
        prepare((*slice.batch)[i], slot.walk);
      },
      [&](std::size_t i, Slot& slot) { visit(i - slice.begin, slot.walk); });
}

void InOrder::learn(Walk& walk, bool is_new, Losses& losses) {
  ahead_.ask(1);
  const double p = learner_->predict(walk);
  ahead_.ask(2);
  if (is_new) {
    losses.add_new(walk.example.importance);
  } else {
    count_seen(*learner_, walk.example, walk.label, p, losses);
  }
  if (before_training_) before_training_(walk);
  ahead_.ask(3);
  learner_->train(walk);
  ahead_.ask(4);
}

void InOrder::learn_settling(Slice slice, Losses& losses) {
  walk_ahead(slice, [&](std::size_t, Walk& walk) {
    bool is_new = false;
    if (walk.label == kNoLabel) {
      // It may have joined since the walk was prepared.
      walk.label = learner_->find(walk.example);
      is_new = walk.label == kNoLabel;
      if (is_new) walk.label = learner_->apply(learner_->settle(walk.example));
      learner_->locate(walk.example, walk.label, walk);
    } else if (!learner_->stands(walk)) {
      learner_->locate(walk.example, walk.label, walk);
    }
    learn(walk, is_new, losses);
  });
}

void InOrder::learn_settled(Slice slice, const std::vector<bool>& is_new, Losses& losses) {
  walk_ahead(slice, [&](std::size_t i, Walk& walk) { learn(walk, is_new[i], losses); });
}

void InOrder::predict_only(Slice slice, Losses& losses) {
  walk_ahead(slice, [&](std::size_t, Walk& walk) {
    ahead_.ask(4);
    if (walk.label == kNoLabel) {
      losses.add_new(walk.example.importance);
    } else {
      count_seen(*learner_, walk.example, walk.label, learner_->predict(walk), losses);
    }
  });
}

}  // namespace cpt
