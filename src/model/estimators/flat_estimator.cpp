#include "model/estimators/flat_estimator.h"

#include <algorithm>
#include <bit>

#include "cpt/hashing.h"

namespace cpt {

LabelId complete_split(LabelId i) { return i - std::bit_floor(i); }

Insertion FlatEstimator::settle(const ExampleView&) const {
  if (labels() == 0) return {};
  return {complete_split(static_cast<LabelId>(labels())), 0};
}

std::vector<Ranked> FlatEstimator::top_k(const ExampleView& x, std::size_t k, double threshold) const {
  const std::vector<double> probabilities = all_probabilities(x);
  std::vector<Ranked> best;
  for (LabelId label = 0; label < probabilities.size(); ++label) {
    if (probabilities[label] >= threshold) best.push_back({label, probabilities[label]});
  }
  k = std::min(k, best.size());
  std::partial_sort(best.begin(), best.begin() + static_cast<std::ptrdiff_t>(k), best.end(),
                    [](const Ranked& a, const Ranked& b) {
                      return a.probability != b.probability ? a.probability > b.probability : a.label < b.label;
                    });
  best.resize(k);
  return best;
}

Ranked FlatEstimator::draw(const ExampleView& x, std::uint64_t random) const {
  const std::vector<double> probabilities = all_probabilities(x);
  double left = static_cast<double>(mix(random) >> 11) * 0x1.0p-53;
  Ranked drawn;
  for (LabelId label = 0; label < probabilities.size(); ++label) {
    if (!(probabilities[label] > 0)) continue;
    drawn = {label, probabilities[label]};  // the last one where rounding leaves a little
    left -= probabilities[label];
    if (left < 0) break;
  }
  return drawn;
}

double FlatEstimator::share(double estimate, double total) const {
  const double even = 1 / static_cast<double>(labels());
  if (total == 0) return even;
  return (1 - clip_) * (estimate / total) + clip_ * even;
}

}  // namespace cpt
