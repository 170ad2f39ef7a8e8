#include "model/learning/learner.h"

#include <cmath>

#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/weights/scaling.h"

namespace cpt {

namespace {

ModelOptions validated(ModelOptions options) {
  options.validate();
  return options;
}

}  // namespace

Learner::Learner(const ModelOptions& options)
    : options_(validated(options)),
      weights_(options.table_bits()),
      feature_counts_(options_.uses_rarity(), options_.table_bits()),
      estimator_(make_estimator(options_, tree_, weights_, frequencies_)) {}

ScaledExample Learner::scaled(const ExampleView& x, ScaledValues& room) const {
  if (feature_counts_.used()) feature_counts_.look_up(x.features, room.counts);
  return scale(x, room.counts.rarities, options_.update == Update::kSafe, room);
}

std::vector<Ranked> Learner::top_k(const ExampleView& x, std::size_t k, double threshold) const {
  ScaledValues room;
  return estimator_->top_k(scaled(x, room), k, threshold);
}

Ranked Learner::draw(const ExampleView& x, std::uint64_t random) const {
  ScaledValues room;
  return estimator_->draw(scaled(x, room), random);
}

std::vector<double> Learner::all_probabilities(const ExampleView& x) const {
  ScaledValues room;
  return estimator_->all_probabilities(scaled(x, room));
}

TreeChange Learner::choose_split(const ExampleView& x) const {
  ScaledValues room;
  const Insertion insertion = estimator_->choose_split(scaled(x, room));
  return {std::string(x.label), insertion.split, insertion.disagreements};
}

LabelId Learner::apply(const TreeChange& change) {
  labels_.add(change.label, hash_label(change.label));
  disagreements_ += change.disagreements;
  return change.split == kNoLabel ? tree_.add_first() : tree_.split(change.split);
}

double Learner::predict(PathState& path_state) const {
  const double p = estimator_->predict(path_state);
  if (!std::isfinite(p)) throw_diverged();
  return p;
}

void throw_diverged() {
  throw Error(Fault::kFailed,
              "the weights are no longer finite: use a lower --learning-rate, --normalize l2, --merge confidence, or "
              "smaller importances and feature values");
}

std::uint64_t Learner::structure_digest() const { return mix(tree_.digest() + labels_.digest()); }

}  // namespace cpt
