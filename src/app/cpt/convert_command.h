// cpt convert
#pragma once

#include "app/cpt/command_line.h"

namespace cpt {

void add_convert_command(CLI::App& program, Action& action);

}  // namespace cpt
