// The options of a model by name, as words of the command line: for the interfaces of other languages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cpt/options.h"

namespace cpt {

// Names of options without the dashes before them, and the words that follow. `dash` replaces the dashes within names,
// for languages whose names cannot hold them.
using ModelOptionWords = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Throws Error(kUsage) that names the option if it is not one of a model made without data, or if its value is wrong.
ModelOptions parse_model_options(const ModelOptionWords& given, char dash = '-');

// All options of a model, each with one word.
ModelOptionWords list_model_options(const ModelOptions& options, char dash = '-');

}  // namespace cpt
