#include "model/learning/in_order.h"

namespace cpt {

void InOrder::prepare(const ExampleView& x, PathState& path_state) const {
  path_state.example = learner_->scaled(x, path_state.room);
  path_state.label = learner_->find(x);
  if (path_state.label != kNoLabel) learner_->locate(path_state.label, path_state);
}

// Calls visit(i, path_state) for the examples of the slice in order.
template <class Visit>
void InOrder::for_each_prefetched(Slice slice, Visit visit) {
  path_prefetcher_.each(
      slice.begin, slice.end,
      [&](std::size_t i, Slot& slot) {
        label_prefetcher_.prefetch(*slice.batch, i, slice.end);
        const std::size_t ahead = i + LabelPrefetcher::kStep;
        if (learner_->feature_counts().used() && ahead < slice.end) {
          learner_->feature_counts().prefetch((*slice.batch)[ahead]);
        }
        prepare((*slice.batch)[i], slot.path_state);
      },
      [&](std::size_t i, Slot& slot) { visit(i - slice.begin, slot.path_state); });
}

void InOrder::learn(PathState& path_state, bool is_new, Losses& losses) {
  const ScaledExample& x = path_state.example;
  if (is_new) {
    losses.add_new(x.importance);
    learner_->learn(path_state, before_training_);
  } else if (is_sampled(losses.examples + 1)) {
    // Draws and searches must use the weights as they are before this example is learned.
    count_seen(*learner_, x, path_state.label, learner_->predict(path_state), losses);
    learner_->learn(path_state, before_training_);
  } else {
    losses.add_seen(x.importance, learner_->learn(path_state, before_training_));
  }
}

template <class Learn>
void InOrder::for_each_located(Slice slice, Learn learn) {
  for_each_prefetched(slice, [&](std::size_t i, PathState& path_state) {
    bool is_new = false;
    if (path_state.label == kNoLabel) {
      // The label may have been inserted since the path state was prepared.
      path_state.label = learner_->find(path_state.example);
      is_new = path_state.label == kNoLabel;
      if (is_new) path_state.label = learner_->apply(learner_->choose_split(path_state.example));
      learner_->locate(path_state.label, path_state);
    } else if (!learner_->is_current(path_state)) {
      learner_->locate(path_state.label, path_state);
    }
    learn(i, path_state, is_new);
  });
}

void InOrder::learn_online(Slice slice, Losses& losses) {
  for_each_located(slice, [&](std::size_t, PathState& path_state, bool is_new) { learn(path_state, is_new, losses); });
}

void InOrder::learn_online(Slice slice, std::span<double> probabilities) {
  for_each_located(slice, [&](std::size_t i, PathState& path_state, bool is_new) {
    const double p = learner_->learn(path_state, before_training_);
    probabilities[i] = is_new ? 0 : p;
  });
}

void InOrder::learn_known(Slice slice, const std::vector<bool>& is_new, Losses& losses) {
  for_each_prefetched(slice, [&](std::size_t i, PathState& path_state) { learn(path_state, is_new[i], losses); });
}

void InOrder::predict_only(Slice slice, Losses& losses) {
  for_each_prefetched(slice, [&](std::size_t, PathState& path_state) {
    if (path_state.label == kNoLabel) {
      losses.add_new(path_state.example.importance);
    } else {
      count_seen(*learner_, path_state.example, path_state.label, learner_->predict(path_state), losses);
    }
  });
}

}  // namespace cpt
