// `cpt explain`: why a label has the probability that it has: the nodes on its path, and the features behind each.
#pragma once

#include "app/cpt/command_line.h"

namespace cpt {

void add_explain_command(CLI::App& program, Action& action);

}  // namespace cpt
