#include "model/learning/best_possible.h"

#include "cpt/hashing.h"
#include "model/estimators/example_key.h"

namespace cpt {

std::size_t BestPossible::HashOfPair::operator()(const Pair& pair) const { return mix(pair.key + pair.label_hash); }

void BestPossible::add(const ExampleView& x) {
  const std::uint64_t key = example_key(x);
  const auto importance = static_cast<double>(x.importance);
  pairs_[{key, x.label_hash}] += importance;
  keys_[key] += importance;
}

double BestPossible::mean_squared() const {
  double sum = 0;
  double weight = 0;
  for (const auto& [pair, with_label] : pairs_) {
    const double miss = 1 - with_label / keys_.at(pair.key);
    sum += with_label * miss * miss;
    weight += with_label;
  }
  return weight > 0 ? sum / weight : 0;
}

}  // namespace cpt
