// `cpt dump`: labels and tree as text.
//
//   dump = "cpt-tree 1 " labels LF, then one line per leaf, in the order in which the labels joined the tree
//   line = path TAB label LF
//   path = "-" if the tree is this single leaf, else the sides from the root on: "0" for left, "1" for right
//
// `labels` is their number in decimal. A label is every byte up to the line reader, so it may hold tabs but no line
// reader. The paths are those of a binary tree: none is the beginning of another, and every node has both its sides.
#pragma once

#include "app/cpt/command_line.h"

namespace cpt {

void add_dump_command(CLI::App& program, Action& action);

}  // namespace cpt
