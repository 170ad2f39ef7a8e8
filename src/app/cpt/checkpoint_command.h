// `cpt checkpoint`: what checkpoints a run has, whether they are whole, and which may go.
#pragma once

#include "app/cpt/command_line.h"

namespace cpt {

void add_checkpoint_command(CLI::App& program, Action& action);

}  // namespace cpt
