// The names of the features of an example, for people.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "cpt/example.h"

namespace cpt {

class FeatureNames {
 public:
  FeatureNames() { clear(); }

  void clear();
  // As ExampleReader::on_feature() calls it. The first of several names of a hash counts.
  void add(FeatureHash feature, std::string_view name_space, std::string_view name);
  // NAMESPACE^NAME, or the name alone if the namespace has none; the hash if the feature was not added.
  std::string name(FeatureHash feature) const;

 private:
  std::unordered_map<FeatureHash, std::string> names_;
};

}  // namespace cpt
