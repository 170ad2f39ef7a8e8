#include "data/text/interactions.h"

#include <cmath>

#include "cpt/hashing.h"
#include "data/format/parse_error.h"

namespace cpt {

namespace {

bool is_of(const std::string& name, const std::string& crossed, bool is_whole) {
  return is_whole ? name == crossed : name.starts_with(crossed);
}

}  // namespace

Interactions::Interactions(const ReadOptions& options) : options_(options) {
  for (const std::string& pair : options.interactions) {
    crossed_.push_back(crossed_names(pair));
    any_whole_ = any_whole_ || crossed_.back().are_whole;
  }
}

void Interactions::begin_name_space(std::string_view name, const Batch& batch) {
  const std::size_t first = batch.open_features();
  if (!segments_.empty()) segments_.back().last = first;
  segments_.push_back({std::string(any_whole_ ? name : name.substr(0, 1)), first, first});
}

void Interactions::add_crosses(Batch& batch) {
  if (segments_.empty()) return;
  segments_.back().last = batch.open_features();
  for (std::size_t i = 0; i < crossed_.size(); ++i) cross(options_.interactions[i], crossed_[i], batch);
}

void Interactions::cross(const std::string& pair, const CrossedNames& names, Batch& batch) const {
  const bool within = names.a == names.b;
  for (auto a = segments_.begin(); a != segments_.end(); ++a) {
    if (!is_of(a->name, names.a, names.are_whole)) continue;
    for (auto b = within ? a : segments_.begin(); b != segments_.end(); ++b) {
      if (!is_of(b->name, names.b, names.are_whole)) continue;
      for (std::size_t i = a->first; i < a->last; ++i) {
        for (std::size_t j = a == b ? i + 1 : b->first; j < b->last; ++j) {
          const FeatureHash x = batch.open_feature(i);
          const FeatureHash y = batch.open_feature(j);
          // Within one kind of namespace the lower hash comes first, so that a cross does not depend on the order of
          // the text, and equal features have none.
          if (!within || x < y) {
            add_cross(i, j, pair, batch);
          } else if (y < x) {
            add_cross(j, i, pair, batch);
          }
        }
      }
    }
  }
}

void Interactions::add_cross(std::size_t i, std::size_t j, const std::string& pair, Batch& batch) const {
  if (batch.open_features() >= kMaxLineFeatures) {
    throw ParseError(1, "at most " + std::to_string(kMaxLineFeatures) + " features",
                     "more in interaction " + quote(pair));
  }
  const double product = static_cast<double>(batch.open_value(i)) * static_cast<double>(batch.open_value(j));
  if (std::abs(product) > kMaxValue) {
    throw ParseError(1, "products of at most 1e30 in size", "a larger one in interaction " + quote(pair));
  }
  const FeatureHash cross = FeatureHasher::cross(batch.open_feature(i), batch.open_feature(j));
  batch.add_feature(cross, static_cast<float>(product));
  if (options_.on_feature) options_.on_feature(cross, pair, std::string(names_[i]) + "*" + std::string(names_[j]));
}

}  // namespace cpt
