#include "model/learning/learner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/weights/scaling.h"

namespace cpt {

namespace {

ModelOptions validated(ModelOptions options) {
  options.validate();
  return options;
}

std::vector<Tree> empty_trees(int count) {
  std::vector<Tree> trees;
  for (int t = 0; t < count; ++t) trees.emplace_back(static_cast<std::size_t>(t));
  return trees;
}

std::vector<double> require_finite(std::vector<double> probabilities) {
  if (!std::ranges::all_of(probabilities, [](double p) { return std::isfinite(p); })) throw_diverged();
  return probabilities;
}

}  // namespace

Learner::Learner(const ModelOptions& options)
    : options_(validated(options)),
      trees_(empty_trees(options_.trees)),
      weights_(options_.table_bits(), options_.trees),
      feature_counts_(options_.uses_rarity(), options_.table_bits()),
      estimator_(make_estimator(options_, trees_, weights_, frequencies_)) {}

ScaledExample Learner::scaled(const ExampleView& x, ScaledValues& room) const {
  if (feature_counts_.used()) {
    feature_counts_.look_up(x.features, room.rarities);
  } else {
    room.rarities.clear();  // of another model
  }
  ScaledExample example{x, {}};
  scale(room.rarities, options_.update == Update::kSafe, room, example);
  return example;
}

std::vector<Ranked> Learner::top_k(const ExampleView& x, std::size_t k, double threshold) const {
  ScaledValues room;
  return estimator_->top_k(scaled(x, room), k, threshold);
}

std::vector<Ranked> Learner::draw(const ExampleView& x, std::uint64_t random) const {
  ScaledValues room;
  return estimator_->draw(scaled(x, room), random);
}

std::vector<double> Learner::all_probabilities(const ExampleView& x) const {
  ScaledValues room;
  return require_finite(estimator_->all_probabilities(scaled(x, room)));
}

std::vector<double> Learner::probabilities(const ExampleView& x, std::span<const LabelId> labels) const {
  ScaledValues room;
  return require_finite(estimator_->probabilities(scaled(x, room), labels));
}

TreeChange Learner::choose_split(const ExampleView& x) const {
  ScaledValues room;
  return choose_split(scaled(x, room));
}

TreeChange Learner::choose_split(const ScaledExample& x) const {
  Insertion insertion = estimator_->choose_split(x);
  return {std::string(x.label), std::move(insertion.splits), insertion.disagreements};
}

LabelId Learner::apply(const TreeChange& change) {
  labels_.add(change.label, hash_label(change.label));
  disagreements_ += change.disagreements;
  LabelId label = 0;
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    const LabelId split = change.splits.at(t);
    label = split == kNoLabel ? trees_[t].add_first() : trees_[t].split(split);
  }
  return label;
}

void Learner::locate(const ExampleView& x, LabelId label, PathState& path_state) const {
  if (feature_counts_.used()) {
    // Prefetches the rows first, so that they arrive while values are scaled.
    path_state.example = {x, x.values};
    locate(label, path_state);
    path_state.prefetch_rows();
    path_state.example = scaled(x, path_state.room);
  } else {
    path_state.example = scaled(x, path_state.room);
    locate(label, path_state);
  }
}

double Learner::predict(PathState& path_state) const {
  const double p = estimator_->predict(path_state);
  if (!std::isfinite(p)) throw_diverged();
  return p;
}

double Learner::learn(PathState& path_state, const Estimator::Hook& hook) {
  const double p = estimator_->learn(path_state, hook);
  if (!std::isfinite(p)) throw_diverged();
  count_features(path_state);
  return p;
}

void throw_diverged() {
  throw Error(Fault::kFailed,
              "the weights are no longer finite: use a lower --learning-rate, --normalize l2, --merge confidence, or "
              "smaller importances and feature values");
}

template <class DigestOf>
std::uint64_t Learner::digest_with_labels(DigestOf digest_of) const {
  std::uint64_t digest = 0;
  for (const Tree& tree : trees_) digest = (digest == 0 ? 0 : mix(digest)) + digest_of(tree);
  return mix(digest + labels_.digest());
}

std::uint64_t Learner::structure_digest() const {
  return digest_with_labels([](const Tree& tree) { return tree.digest(); });
}

std::uint64_t Learner::growth_digest() const {
  return digest_with_labels([](const Tree& tree) { return tree.growth_digest(); });
}

}  // namespace cpt
