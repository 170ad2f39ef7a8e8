#include "model/rarity/feature_counts.h"

#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "cpt/hashing.h"

namespace cpt {

namespace {

constexpr std::size_t kMostOccurrences = std::size_t{1} << 14;  // 128 KiB
constexpr std::size_t kEntriesAhead = 32;                       // entries lie anywhere, so later ones are prefetched
static_assert(FeatureCounts::kStepsPerBit == 8);

// log2(units / kUnitsOfOne + 1) in steps, rounded to the nearest.
int steps_of(std::uint64_t units) {
  // 2^63 times 2^(1/16), 2^(3/16), ... : where one step ends and the next begins.
  constexpr std::array<std::uint64_t, 8> kSteps = {0x85aac367cc487b15, 0x91c3d373ab11c336, 0x9ef5326091a111ae,
                                                   0xad583eea42a14ac6, 0xbd08a39f580c36bf, 0xce248c151f8480e4,
                                                   0xe0ccdeec2a94e111, 0xf5257d152486cc2c};
  const std::uint64_t v = units + FeatureCounts::kUnitsOfOne;
  const int zeros = std::countl_zero(v);
  const std::uint64_t mantissa = v << zeros;
  int steps = FeatureCounts::kStepsPerBit * (63 - zeros - FeatureCounts::kUnitBits);
  for (const std::uint64_t step : kSteps) steps += mantissa >= step ? 1 : 0;
  return steps;
}

std::uint8_t byte_of(int steps) { return static_cast<std::uint8_t>(std::min(steps, 255)); }

std::uint32_t units_of_square(float value) {
  const float x = std::min(std::abs(value), 16.0F);
  return (static_cast<std::uint32_t>(x * x * static_cast<float>(2 * FeatureCounts::kUnitsOfOne)) + 1) / 2;  // rounded
}

}  // namespace

FeatureCounts::FeatureCounts(bool used, int bits) : bits_(std::min(bits, kMostBits)) {
  set_examples(0);
  if (!used) return;
  renewed_ = make_zeroed<std::uint8_t>(size(), "the counts of features");
  added_ = make_zeroed<std::uint32_t>(size(), "the counts of features");
  units_ = make_zeroed<std::uint64_t>(size(), "the counts of features");
}

std::vector<std::span<std::byte>> FeatureCounts::memory() {
  if (!used()) return {};
  return {std::as_writable_bytes(std::span(renewed_.get(), size())),
          std::as_writable_bytes(std::span(added_.get(), size())),
          std::as_writable_bytes(std::span(units_.get(), size()))};
}

void FeatureCounts::look_up(std::span<const FeatureHash> features, std::vector<Rarity>& rarities) const {
  rarities.resize(features.size());
  // Local copies: stores of bytes may alias anything, so members would be read again after each.
  Rarity* const out = rarities.data();
  const std::uint8_t* const renewed = renewed_.get();
  const int examples = renewed_examples_;
  const int bits = bits_;
  for (std::size_t f = 0; f < features.size(); ++f) {
    out[f] = static_cast<Rarity>(std::clamp(examples - renewed[index(features[f], bits)], 1, 255));
  }
  if (!features.empty() && features.front() == kConstantFeature) rarities.front() = 0;
}

void FeatureCounts::update_counting(std::uint64_t examples_since_renewal) {
  const std::uint64_t interval = renewal_interval(examples_);
  const bool counts = examples_since_renewal < counted_examples(interval);
  times_ = counts ? static_cast<std::uint32_t>(counted_times(interval)) : 0;
}

std::uint64_t FeatureCounts::examples_until_change() const {
  const std::uint64_t interval = renewal_interval(examples_);
  const std::uint64_t counted = counted_examples(interval);
  const std::uint64_t since = examples_since();
  return since < counted ? counted - since : interval - std::min(interval - 1, since);
}

void FeatureCounts::add(std::span<const FeatureHash> features, std::span<const float> values) {
  ++all_examples_;
  ++examples_added_;
  if (times_ == 0) return;
  const std::size_t before = occurrences_.size();
  occurrences_.resize(before + values.size());
  CountedFeature* const out = occurrences_.data() + before;
  for (std::size_t f = 0; f < values.size(); ++f) {
    out[f] = {static_cast<std::uint32_t>(index(features[f])), units_of_square(values[f]) * times_};
  }
  if (occurrences_.size() >= kMostOccurrences) take_occurrences();
}

void FeatureCounts::take_occurrences() {
  for (std::size_t i = 0; i < occurrences_.size(); ++i) {
    if (i + kEntriesAhead < occurrences_.size()) __builtin_prefetch(&added_[occurrences_[i + kEntriesAhead].index], 1);
    const auto [at, units] = occurrences_[i];
    if (units == 0) continue;  // a small value would add its entry to touched_ at each occurrence
    std::uint32_t& added = added_[at];
    if (added == 0) touched_.push_back(at);
    if (added > 0xffffffffU - units) spilled_.push_back({at, std::exchange(added, 0)});
    added += units;
  }
  occurrences_.clear();
}

void FeatureCounts::add(std::span<const CountedFeature> counted) {
  occurrences_.insert(occurrences_.end(), counted.begin(), counted.end());
  take_occurrences();
}

// Clears what was added, and calls visit() with it.
template <class Visit>
void FeatureCounts::take_added(Visit visit) {
  take_occurrences();
  for (const CountedFeature& added : spilled_) visit(added);
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    if (i + kEntriesAhead < touched_.size()) {
      __builtin_prefetch(&added_[touched_[i + kEntriesAhead]], 1);
      __builtin_prefetch(&units_[touched_[i + kEntriesAhead]], 1);
    }
    const std::uint32_t units = std::exchange(added_[touched_[i]], 0);
    if (units > 0) visit(CountedFeature{touched_[i], units});
  }
  spilled_.clear();
  touched_.clear();
  examples_added_ = 0;
}

FeatureCounts::Added FeatureCounts::take_added() {
  Added added;
  added.examples = examples_added_;
  added.features.reserve(touched_.size() + spilled_.size());
  take_added([&](const CountedFeature& feature) { added.features.push_back(feature); });
  return added;
}

void FeatureCounts::grow(const CountedFeature& sum) {
  std::uint64_t& units = units_[sum.index];
  units = std::min(units + sum.units, kMostUnits);
  stale_.push_back(sum.index);
}

void FeatureCounts::grow(std::span<const CountedFeature> sums) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (i + kEntriesAhead < sums.size()) __builtin_prefetch(&units_[sums[i + kEntriesAhead].index], 1);
    grow(sums[i]);
  }
}

void FeatureCounts::grow(std::uint64_t examples) { all_examples_ += examples; }

void FeatureCounts::renew() {
  take_added([&](const CountedFeature& added) { grow(added); });
  for (std::size_t i = 0; i < stale_.size(); ++i) {
    if (i + kEntriesAhead < stale_.size()) {
      __builtin_prefetch(&units_[stale_[i + kEntriesAhead]]);
      __builtin_prefetch(&renewed_[stale_[i + kEntriesAhead]], 1);
    }
    renewed_[stale_[i]] = byte_of(steps_of(units_[stale_[i]]));
  }
  stale_.clear();
  set_examples(all_examples_);
}

void FeatureCounts::renew_if_due() {
  if (used() && examples_since() >= renewal_interval(examples_)) renew();
}

void FeatureCounts::set_examples(std::uint64_t examples) {
  examples_ = examples;
  renewed_examples_ = steps_of(std::min((kMostUnits >> kUnitBits) - 1, examples + 1) << kUnitBits);
}

template <class Visit>
void FeatureCounts::for_each_stored(Visit visit) const {
  if (!used()) return;
  // Counts that are not in added_, sorted by index like the loop below.
  std::vector<CountedFeature> apart = spilled_;
  apart.insert(apart.end(), occurrences_.begin(), occurrences_.end());
  std::ranges::sort(apart, {}, &CountedFeature::index);
  auto next = apart.begin();
  // Most entries are unused: whole blocks of them are passed in one go.
  constexpr std::uint64_t kBlock = 64;
  for (std::uint64_t begin = 0; begin < size(); begin += kBlock) {
    const std::uint64_t end = std::min(begin + kBlock, size());
    std::uint64_t any = 0;
    for (std::uint64_t at = begin; at < end; ++at) any |= units_[at] | added_[at];
    if (any == 0 && (next == apart.end() || next->index >= end)) continue;
    for (std::uint64_t at = begin; at < end; ++at) {
      std::uint64_t units = units_[at] + added_[at];
      for (; next != apart.end() && next->index == at; ++next) units += next->units;
      if (units != 0) visit(Stored{static_cast<std::uint32_t>(at), units, renewed_[at]});
    }
  }
}

std::vector<FeatureCounts::Stored> FeatureCounts::stored() const {
  std::vector<Stored> all;
  for_each_stored([&](const Stored& stored) { all.push_back(stored); });
  return all;
}

std::uint64_t FeatureCounts::digest() const {
  if (!used()) return 0;
  std::uint64_t digest = mix(examples_ ^ mix(all_examples_));
  for_each_stored([&](const Stored& stored) { digest += mix(mix(stored.index) + stored.units); });
  return digest;
}

void FeatureCounts::restore(const Stored& entry) {
  units_[entry.index] = entry.units;
  renewed_[entry.index] = entry.renewed;
  stale_.push_back(entry.index);
}

void FeatureCounts::restore(const Examples& examples) {
  set_examples(examples.renewed);
  all_examples_ = examples.all;
}

}  // namespace cpt
