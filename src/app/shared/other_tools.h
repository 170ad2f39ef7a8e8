// Options of Vowpal Wabbit, fastText, napkinXC and LightGBM, for which error messages name what serves here instead.
// src/app/MIGRATING.md explains more.
#pragma once

#include <string>
#include <vector>

namespace cpt {

// A message about the first of `words` that is an option of another tool; empty if none is. Pass only words that the
// program itself does not understand.
std::string describe_other_tools_option(const std::vector<std::string>& words);

}  // namespace cpt
