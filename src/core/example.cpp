#include "cpt/example.h"

#include <algorithm>
#include <cmath>

#include "core/hash_order.h"
#include "cpt/hashing.h"

namespace cpt {
namespace {

constexpr float kMaxValue = 1e30F;

// Values break ties, so that the sum of a repeated feature does not depend on the order of the text.
template <class Feature>
bool comes_before(const Feature& a, const Feature& b) {
  return a.feature != b.feature ? a.feature < b.feature : a.value < b.value;
}

// Cheap where few are out of order.
template <class Feature>
void sort(std::span<Feature> features) {
  std::size_t moves_left = 8 * features.size();
  for (std::size_t i = 1; i < features.size(); ++i) {
    const Feature moved = features[i];
    std::size_t to = i;
    for (; to > 0 && comes_before(moved, features[to - 1]); --to) features[to] = features[to - 1];
    features[to] = moved;
    if (i - to > moves_left) return std::sort(features.begin(), features.end(), comes_before<Feature>);
    moves_left -= i - to;
  }
}

}  // namespace

double ExampleView::squared_length() const {
  double sum = 0;
  for (float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

void Batch::finish_example(std::string_view label, float importance, const Origin& origin) {
  const std::size_t first = features_.size();
  features_.push_back(kConstantFeature);
  values_.push_back(1.0F);
  if (!open_.empty()) {
    if (dealt_.size() < open_.size()) dealt_.resize(open_.size());
    const auto dealt = std::span(dealt_).first(open_.size());
    deal_by_hash(std::span<const Feature>(open_), dealt);
    if (!add_distinct(dealt)) add_summed(dealt);
    open_.clear();
    if (normalize_ == Normalize::kL2) scale(std::span(values_).subspan(first + 1));
  }
  add_entry(first, label, hash_label(label), importance, origin);
}

// Adds features that one round of exchanges with the next one sorts, if they are then distinct and none is to be left
// out: nearly always.
bool Batch::add_distinct(std::span<const Feature> dealt) {
  const std::size_t first = features_.size();
  features_.resize(first + dealt.size());
  values_.resize(first + dealt.size());
  FeatureHash* features = features_.data() + first;
  float* values = values_.data() + first;
  Feature held = dealt[0];
  FeatureHash last = 0;
  bool distinct = true;
  const auto add = [&](const Feature& f) {
    distinct &= f.feature > last && f.value != 0 && f.feature != kConstantFeature;
    last = f.feature;
    *features++ = f.feature;
    *values++ = f.value;
  };
  for (const Feature& f : dealt.subspan(1)) {
    const bool lower = f.feature < held.feature;
    add(lower ? f : held);
    held = lower ? held : f;
  }
  add(held);
  if (!distinct) {
    features_.resize(first);
    values_.resize(first);
  }
  return distinct;
}

// Adds features in whatever order, those that are repeated as their sum.
void Batch::add_summed(std::span<Feature> dealt) {
  sort(dealt);
  for (std::size_t i = 0; i < dealt.size();) {
    Feature sum = dealt[i++];
    while (i < dealt.size() && dealt[i].feature == sum.feature) sum.value += dealt[i++].value;
    // Each value is within the bound, their sum may not be.
    sum.value = std::clamp(sum.value, -kMaxValue, kMaxValue);
    if (sum.value == 0 || sum.feature == kConstantFeature) continue;
    features_.push_back(sum.feature);
    values_.push_back(sum.value);
  }
}

// Of the features of one example.
void Batch::scale(std::span<float> values) const {
  double squares = 0;
  for (const float value : values) squares += static_cast<double>(value) * static_cast<double>(value);
  if (squares == 0) return;
  const double scale = 1 / std::sqrt(squares);
  for (float& value : values) value = static_cast<float>(value * scale);
}

Batch::Space Batch::extend(std::size_t features, std::string_view label, std::uint64_t label_hash, float importance,
                           const Origin& origin) {
  const std::size_t constant = features_.size();
  features_.resize(constant + 1 + features);
  features_[constant] = kConstantFeature;
  values_.resize(constant + 1 + features, 1.0F);
  add_entry(constant, label, label_hash, importance, origin);
  return {std::span(features_).subspan(constant + 1), std::span(values_).subspan(constant + 1)};
}

void Batch::add_entry(std::size_t first_feature, std::string_view label, std::uint64_t label_hash, float importance,
                      const Origin& origin) {
  Entry& entry = entries_.emplace_back();
  entry.first_feature = first_feature;
  entry.first_label_byte = labels_.size();
  entry.label_hash = label_hash;
  entry.features = static_cast<std::uint32_t>(features_.size() - first_feature);
  entry.label_bytes = static_cast<std::uint32_t>(label.size());
  entry.importance = importance;
  entry.origin = origin;
  labels_.insert(labels_.end(), label.begin(), label.end());
}

ExampleView Batch::operator[](std::size_t i) const {
  const Entry& entry = entries_[i];
  ExampleView view;
  view.features = {features_.data() + entry.first_feature, entry.features};
  view.values = {values_.data() + entry.first_feature, entry.features};
  view.label = {labels_.data() + entry.first_label_byte, entry.label_bytes};
  view.label_hash = entry.label_hash;
  view.importance = entry.importance;
  view.origin = entry.origin;
  return view;
}

void Batch::clear() {
  open_.clear();
  features_.clear();
  values_.clear();
  labels_.clear();
  entries_.clear();
}

}  // namespace cpt
