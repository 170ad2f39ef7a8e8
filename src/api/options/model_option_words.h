// The options of a model by name, as words of the command line: for the interfaces of other languages.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cpt/options.h"

namespace cpt {

// Names of options without the dashes before them, and the words that follow. Another language may have another
// character for the dashes within: `dash`.
using ModelOptionWords = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Throws Error(kUsage) that names the option if a model made without data does not have it, or its value is wrong.
ModelOptions parse_model_options(const ModelOptionWords& given, char dash = '-');

// All of them, each with one word.
ModelOptionWords list_model_options(const ModelOptions& options, char dash = '-');

}  // namespace cpt
