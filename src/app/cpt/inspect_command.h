// `cpt inspect`: what a model is: its figures, the path of a label, the tree as a drawing.
#pragma once

#include "app/cpt/command_line.h"

namespace cpt {

void add_inspect_command(CLI::App& program, Action& action);

}  // namespace cpt
