#include "model/estimators/table_estimator.h"

#include "model/estimators/example_key.h"

namespace cpt {

namespace {

double part(Units units, const Frequencies::Entry& entry) {
  return static_cast<double>(units) / static_cast<double>(entry.total);
}

}  // namespace

void TableEstimator::locate(const ExampleView& x, LabelId label, PathState& path_state) const {
  path_state.example = x;
  path_state.label = label;
  path_state.key = example_key(x);
  path_state.rows.clear();
}

double TableEstimator::predict(PathState& path_state) const {
  const Frequencies::Entry* entry = frequencies_->find(path_state.key);
  return entry == nullptr ? 0 : part(entry->of(path_state.label), *entry);
}

void TableEstimator::train(PathState& path_state) {
  frequencies_->add(path_state.key, path_state.label, units_of(path_state.example.importance));
}

std::vector<double> TableEstimator::all_probabilities(const ExampleView& x) const {
  std::vector<double> probabilities(labels());
  const Frequencies::Entry* entry = frequencies_->find(example_key(x));
  if (entry == nullptr) return probabilities;
  for (const Frequencies::Count& count : entry->counts) probabilities[count.label] = part(count.units, *entry);
  return probabilities;
}

}  // namespace cpt
