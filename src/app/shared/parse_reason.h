// Why a command line was refused.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace cpt {

// Throws CLI::ParseError where a word gives an option no value, like "--run=": CLI11 would take the next word for one,
// whatever that is.
void require_values(const std::vector<std::string>& words);

// What CLI11 says of it, but for what it does not say well: an option that the program does not have (where a config
// file names it, with file and line), whatever else is wrong then, and one that is given more than once. `app`: with
// the command that was called, if it has any.
std::string reason_of(const CLI::App& app, const CLI::ParseError& error);

// "FILE:LINE: " of the option that a reason names first, where it is the config file that gives it and not the words of
// the command line; else empty.
std::string place_in_config(const CLI::App& app, const std::vector<std::string>& words, const std::string& reason);

}  // namespace cpt
