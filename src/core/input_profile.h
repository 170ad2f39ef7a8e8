// What a model was trained on, in a few words: kept in the model, to compare with what it is asked to predict.
#pragma once

#include <string>
#include <vector>

namespace cpt {

struct InputProfile {
  std::string format;                    // the word of --format
  std::vector<std::string> name_spaces;  // some, in the order in which they were met
  std::vector<std::string> features;     // some, "NAMESPACE^NAME"

  // Whether nothing is known.
  bool empty() const { return format.empty(); }
};

}  // namespace cpt
