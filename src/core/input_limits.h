// Limits on user input that several layers check.
#pragma once

#include <string>
#include <vector>

namespace cpt {

// The largest magnitude of a feature value, of a scale, and of their products.
inline constexpr double kMaxValue = 1e30;

// An interaction "ab" crosses namespaces by the first bytes of their names, and "user:page" two by their names.
struct CrossedNames {
  std::string a;
  std::string b;
  bool are_whole = false;  // else a byte each
};
// Throws Error(kUsage) that names the interaction if it is neither.
CrossedNames crossed_names(const std::string& interaction);
// Throws the error of the first of `interactions` that has one.
void require_pairs(const std::vector<std::string>& interactions);

}  // namespace cpt
