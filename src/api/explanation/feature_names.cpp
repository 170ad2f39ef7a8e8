#include "api/explanation/feature_names.h"

#include <charconv>
#include <iterator>

namespace cpt {

void FeatureNames::clear() {
  names_.clear();
  names_.emplace(kConstantFeature, "(constant)");
}

void FeatureNames::add(FeatureHash feature, std::string_view name_space, std::string_view name) {
  auto& text = names_[feature];
  if (!text.empty()) return;
  if (!name_space.empty()) text.append(name_space).append("^");
  text.append(name);
}

std::string FeatureNames::name(FeatureHash feature) const {
  const auto known = names_.find(feature);
  if (known != names_.end()) return known->second;
  char digits[16];
  const std::string_view hash(digits, std::to_chars(std::begin(digits), std::end(digits), feature, 16).ptr);
  return "#" + std::string(16 - hash.size(), '0') + std::string(hash);
}

}  // namespace cpt
