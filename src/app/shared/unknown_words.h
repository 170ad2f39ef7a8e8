// Messages about words of the command line that are no option, command or option of a config file.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "app/shared/other_tools.h"

namespace cpt {

// "; did you mean NAME?" for the nearest name: one that starts with `word`, or one at most two edits, and at most half
// the length of `word`, away. Empty if there is none. The name is printed with `dashes`.
std::string suggest_name(std::string_view word, const std::vector<std::string>& names, const std::string& dashes = "");

// The names of the options of a command, without their dashes.
std::vector<std::string> option_names(const CLI::App& command);

// A message about the words that a command does not understand: what to use here if one is an option of another tool,
// else the words and the nearest option of the command.
std::string describe_unknown_words(const CLI::App& command, const std::vector<std::string>& words, Program program);

}  // namespace cpt
