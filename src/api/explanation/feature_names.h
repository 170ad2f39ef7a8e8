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
  // Has the parameters of the function that ExampleReader::on_feature() takes. If several names have one hash, the
  // first is kept.
  void add(FeatureHash feature, std::string_view name_space, std::string_view name);
  // NAMESPACE^NAME, or the name alone in the namespace without a name; the hash if the feature was not added.
  std::string name(FeatureHash feature) const;

 private:
  std::unordered_map<FeatureHash, std::string> names_;
};

}  // namespace cpt
