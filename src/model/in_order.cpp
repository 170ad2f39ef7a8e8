#include "model/in_order.h"

#include <algorithm>

namespace cpt {

void InOrder::prepare(const ExampleView& x, Walk& walk) const {
  walk.example = x;
  walk.label = learner_->find(x);
  if (walk.label != kNoLabel) learner_->locate(x, walk.label, walk);
}

// Calls visit(i, walk) for every example of the slice in order; the walk was prepared up to kAhead examples ago, and
// its lines are on their way where visits call ask_ahead().
template <class Visit>
void InOrder::walk_ahead(Slice slice, Visit visit) {
  const Batch& batch = *slice.batch;
  std::size_t prepared = slice.begin;
  for (std::size_t i = slice.begin; i < slice.end; ++i) {
    for (; prepared < std::min(slice.end, i + kAhead + 1); ++prepared) {
      prepare(batch[prepared], walks_[prepared % walks_.size()]);
    }
    ahead_ = i + kAhead < slice.end ? &walks_[(i + kAhead) % walks_.size()] : nullptr;
    visit(i - slice.begin, walks_[i % walks_.size()]);
  }
}

void InOrder::ask_ahead(std::size_t quarters) {
  if (ahead_ != nullptr) ahead_->ask_for_lines(ahead_->lines.size() * quarters / 4);
}

void InOrder::learn(Walk& walk, bool is_new, Losses& losses) {
  ask_ahead(1);
  const double p = learner_->predict(walk);
  ask_ahead(2);
  if (is_new) {
    losses.add_new(walk.example.importance);
  } else {
    count_seen(*learner_, walk.example, walk.label, p, losses);
  }
  if (before_training_) before_training_(walk);
  ask_ahead(3);
  learner_->train(walk);
  ask_ahead(4);
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
    ask_ahead(4);
    if (walk.label == kNoLabel) {
      losses.add_new(walk.example.importance);
    } else {
      count_seen(*learner_, walk.example, walk.label, learner_->predict(walk), losses);
    }
  });
}

}  // namespace cpt
