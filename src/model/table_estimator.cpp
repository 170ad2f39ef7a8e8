#include "model/table_estimator.h"

#include "model/example_key.h"

namespace cpt {

namespace {

double part(Units units, const Frequencies::Entry& entry) {
  return static_cast<double>(units) / static_cast<double>(entry.total);
}

}  // namespace

void TableEstimator::locate(const ExampleView& x, LabelId label, Walk& walk) const {
  walk.example = x;
  walk.label = label;
  walk.key = example_key(x);
  walk.lines.clear();
}

double TableEstimator::predict(Walk& walk) const {
  const Frequencies::Entry* entry = frequencies_->find(walk.key);
  return entry == nullptr ? 0 : part(entry->of(walk.label), *entry);
}

void TableEstimator::train(Walk& walk) { frequencies_->add(walk.key, walk.label, units_of(walk.example.importance)); }

std::vector<double> TableEstimator::all_probabilities(const ExampleView& x) const {
  std::vector<double> probabilities(labels());
  const Frequencies::Entry* entry = frequencies_->find(example_key(x));
  if (entry == nullptr) return probabilities;
  for (const Frequencies::Count& count : entry->counts) probabilities[count.label] = part(count.units, *entry);
  return probabilities;
}

}  // namespace cpt
