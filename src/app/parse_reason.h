// Why a command line was refused.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace cpt {

// What CLI11 says of it, but for what it does not say well: an option that a config file names and the program does not
// have (told with file and line), and one that is given more than once.
std::string reason_of(const CLI::App& app, const CLI::ParseError& error);

}  // namespace cpt
