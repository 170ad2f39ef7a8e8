// How both programs lay out --help.
#pragma once

#include <CLI/CLI.hpp>

namespace cpt {

// Of the program, and of all commands that it gets afterwards: explanations of options and commands go on in their
// column where a line would be wider than 100 characters. Descriptions and footers stay as they are written.
void lay_out_help(CLI::App& program);

}  // namespace cpt
