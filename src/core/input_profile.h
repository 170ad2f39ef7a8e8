// A short description of a model's training input, kept in the model and compared with the input that it predicts.
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
