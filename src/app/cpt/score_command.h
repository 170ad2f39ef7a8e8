// `cpt score`: the probability of each line's own label.
#pragma once

#include "app/cpt/command_line.h"

namespace cpt {

void add_score_command(CLI::App& program, Action& action);

}  // namespace cpt
