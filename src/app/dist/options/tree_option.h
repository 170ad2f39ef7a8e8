// How users choose what tree a run begins with.
#pragma once

#include <CLI/CLI.hpp>

#include "cpt/trainer.h"

namespace cpt {

// Adds --tree: a word for the rule by which the tree grows, or the file of a given tree. Sets `model.tree` and
// `given_tree`.
CLI::Option* add_tree(CLI::App& app, TrainingOptions& training);

}  // namespace cpt
