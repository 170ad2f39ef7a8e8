#include "cpt/example.h"

#include <algorithm>
#include <cmath>

#include "cpt/hashing.h"

namespace cpt {
namespace {

constexpr float kMaxValue = 1e30F;

}  // namespace

double ExampleView::squared_length() const {
  double sum = 0;
  for (float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum;
}

void Batch::scale_open_features() {
  double squares = 0;
  for (const Feature& f : open_) squares += static_cast<double>(f.value) * static_cast<double>(f.value);
  if (squares == 0) return;
  const double scale = 1 / std::sqrt(squares);
  for (Feature& f : open_) f.value = static_cast<float>(f.value * scale);
}

void Batch::finish_example(std::string_view label, float importance, Origin origin) {
  // Values break ties, so that the sum of a repeated feature does not depend on the order of the text.
  std::sort(open_.begin(), open_.end(), [](const Feature& a, const Feature& b) {
    return a.feature != b.feature ? a.feature < b.feature : a.value < b.value;
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < open_.size();) {
    Feature sum = open_[i++];
    while (i < open_.size() && open_[i].feature == sum.feature) sum.value += open_[i++].value;
    // Each value is within the bound, their sum may not be.
    sum.value = std::clamp(sum.value, -kMaxValue, kMaxValue);
    if (sum.value != 0 && sum.feature != kConstantFeature) open_[kept++] = sum;
  }
  open_.resize(kept);
  if (normalize_ == Normalize::kL2) scale_open_features();

  add_entry(kept, label, hash_label(label), importance, origin);
  features_.push_back(kConstantFeature);
  values_.push_back(1.0F);
  for (const Feature& f : open_) {
    features_.push_back(f.feature);
    values_.push_back(f.value);
  }
  open_.clear();
}

Batch::Space Batch::extend(std::size_t features, std::string_view label, std::uint64_t label_hash, float importance,
                           Origin origin) {
  add_entry(features, label, label_hash, importance, origin);
  features_.push_back(kConstantFeature);
  const std::size_t first = features_.size();
  features_.resize(first + features);
  values_.resize(first + features, 1.0F);
  return {std::span(features_).subspan(first), std::span(values_).subspan(first)};
}

void Batch::add_entry(std::size_t features, std::string_view label, std::uint64_t label_hash, float importance,
                      Origin origin) {
  Entry entry{};
  entry.first_feature = features_.size();
  entry.first_label_byte = labels_.size();
  entry.label_hash = label_hash;
  entry.features = static_cast<std::uint32_t>(features + 1);
  entry.label_bytes = static_cast<std::uint32_t>(label.size());
  entry.importance = importance;
  entry.origin = origin;
  labels_.insert(labels_.end(), label.begin(), label.end());
  entries_.push_back(entry);
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
