#include "model/estimators/estimator.h"

#include <algorithm>
#include <bit>

#include "core/hashing/random.h"
#include "cpt/hashing.h"
#include "model/estimators/one_against_all.h"
#include "model/estimators/pecoc_estimator.h"
#include "model/estimators/table.h"
#include "model/estimators/tree_estimator.h"

namespace cpt {

std::unique_ptr<Estimator> make_estimator(const ModelOptions& options, std::span<const Tree> trees,
                                          WeightTable& weights, Frequencies& frequencies) {
  const Tree& tree = trees.front();
  switch (options.method) {
    case Method::kOneAgainstAll:
      return std::make_unique<OneAgainstAll>(tree, weights, options);
    case Method::kTable:
      return std::make_unique<TableEstimator>(tree, frequencies, options);
    case Method::kPecoc:
      return std::make_unique<PecocEstimator>(tree, weights, options);
    case Method::kTree:
    case Method::kConditionalPecoc:
      break;
  }
  return std::make_unique<TreeEstimator>(trees, weights, options);
}

double Estimator::learn(PathState& path_state, const Hook& hook) {
  const double p = predict(path_state);
  if (hook) hook(path_state);
  train(path_state);
  return p;
}

std::uint64_t draw_seed(std::uint64_t random, std::size_t t) { return t == 0 ? random : mix(random + t); }

double other_squares(std::span<const Ranked> drawn, LabelId own) {
  double sum = 0;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i].label == own) continue;
    sum += drawn[i].probability;
    for (std::size_t j = 0; j < i; ++j) sum += drawn[i].label == drawn[j].label ? 2 : 0;
  }
  return sum / static_cast<double>(drawn.size() * drawn.size());
}

LabelId complete_split(LabelId i) { return i - std::bit_floor(i); }

Insertion FlatEstimator::choose_split(const ScaledExample&) const {
  const auto label = static_cast<LabelId>(labels());
  return {{label == 0 ? kNoLabel : complete_split(label)}, 0};
}

std::vector<Ranked> FlatEstimator::top_k(const ScaledExample& x, std::size_t k, double threshold) const {
  const std::vector<double> probabilities = all_probabilities(x);
  std::vector<Ranked> best;
  for (LabelId label = 0; label < probabilities.size(); ++label) {
    if (probabilities[label] >= threshold) best.push_back({label, probabilities[label]});
  }
  k = std::min(k, best.size());
  std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(k), best.end(), ranks_before);
  best.resize(k);
  return best;
}

std::vector<Ranked> FlatEstimator::draw(const ScaledExample& x, std::uint64_t random) const {
  const std::vector<double> probabilities = all_probabilities(x);
  double left = to_unit(mix(random));
  Ranked drawn;
  for (LabelId label = 0; label < probabilities.size(); ++label) {
    if (!(probabilities[label] > 0)) continue;
    drawn = {label, probabilities[label]};  // if rounding leaves a remainder, the last label is drawn
    left -= probabilities[label];
    if (left < 0) break;
  }
  return {drawn};
}

std::vector<double> FlatEstimator::probabilities(const ScaledExample& x, std::span<const LabelId> labels) const {
  const std::vector<double> all = all_probabilities(x);
  std::vector<double> some;
  some.reserve(labels.size());
  for (const LabelId label : labels) some.push_back(all[label]);
  return some;
}

double FlatEstimator::normalized(double estimate, double total) const {
  const double even = 1 / static_cast<double>(labels());
  if (total == 0) return even;
  return (1 - clip_) * (estimate / total) + clip_ * even;
}

}  // namespace cpt
