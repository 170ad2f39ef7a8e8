#include "model/estimators/table.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cpt/hashing.h"

namespace cpt {

namespace {

constexpr float kMostImportance = 1 << 24;

std::uint64_t digest_of(std::uint64_t key, const Frequencies::Count& count) {
  return mix(mix(key + count.label) ^ count.units);
}

auto find_count(auto& counts, LabelId label) {
  return std::ranges::lower_bound(counts, label, {}, &Frequencies::Count::label);
}

double fraction(Units units, const Frequencies::Entry& entry) {
  return static_cast<double>(units) / static_cast<double>(entry.total);
}

}  // namespace

std::uint64_t example_key(const ExampleView& x) {
  std::uint64_t key = x.features.size();
  for (std::size_t f = 0; f < x.features.size(); ++f) {
    key = mix(mix(key + x.features[f]) + std::bit_cast<std::uint32_t>(x.values[f]));
  }
  return key;
}

Units units_of(float importance) {
  const double units =
      static_cast<double>(std::min(importance, kMostImportance)) * static_cast<double>(kUnitsPerImportance);
  return std::max<Units>(static_cast<Units>(std::llround(units)), 1);
}

Units Frequencies::Entry::of(LabelId label) const {
  const auto at = find_count(counts, label);
  return at != counts.end() && at->label == label ? at->units : 0;
}

void Frequencies::add(std::uint64_t key, LabelId label, Units units) {
  Entry& entry = entries_[key];
  auto at = find_count(entry.counts, label);
  if (at == entry.counts.end() || at->label != label) {
    at = entry.counts.insert(at, {label, 0});
    ++pairs_;
  } else {
    digest_ -= digest_of(key, *at);
  }
  at->units = saturating_sum(at->units, units);
  entry.total = saturating_sum(entry.total, units);
  digest_ += digest_of(key, *at);
}

const Frequencies::Entry* Frequencies::find(std::uint64_t key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

std::vector<std::uint64_t> Frequencies::sorted_keys() const {
  std::vector<std::uint64_t> keys;
  keys.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) keys.push_back(key);
  std::ranges::sort(keys);
  return keys;
}

std::uint64_t Frequencies::bytes() const {
  constexpr std::uint64_t kOfEntry = 4 * sizeof(void*) + sizeof(std::pair<const std::uint64_t, Entry>);
  return entries_.bucket_count() * sizeof(void*) + keys() * kOfEntry + pairs_ * sizeof(Count);
}

void TableEstimator::locate(const ScaledExample& x, LabelId label, PathState& path_state) const {
  path_state.example = x;
  path_state.label = label;
  path_state.key = example_key(x);
  path_state.rows.clear();
}

double TableEstimator::predict(PathState& path_state) const {
  const Frequencies::Entry* entry = frequencies_->find(path_state.key);
  return entry == nullptr ? 0 : fraction(entry->of(path_state.label), *entry);
}

void TableEstimator::train(PathState& path_state) {
  frequencies_->add(path_state.key, path_state.label, units_of(path_state.example.importance));
}

std::vector<double> TableEstimator::all_probabilities(const ScaledExample& x) const {
  std::vector<double> probabilities(labels());
  const Frequencies::Entry* entry = frequencies_->find(example_key(x));
  if (entry == nullptr) return probabilities;
  for (const Frequencies::Count& count : entry->counts) probabilities[count.label] = fraction(count.units, *entry);
  return probabilities;
}

}  // namespace cpt
