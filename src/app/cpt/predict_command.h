// `cpt predict`: the most probable labels of each line.
#pragma once

#include "app/cpt/command_line.h"

namespace cpt {

void add_predict_command(CLI::App& program, Action& action);

}  // namespace cpt
