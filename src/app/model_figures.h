// What `cpt inspect` tells of a model: its figures, as text and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cpt/options.h"
#include "cpt/trainer.h"
#include "model/learner.h"

namespace cpt {

struct ModelFigures {
  TreeFigures tree;
  std::uint64_t nodes = 0;
  std::uint64_t blocks = 0;
  std::vector<std::uint64_t> labels_at_depth;  // by depth, up to the greatest; empty for an empty tree
  std::uint64_t weight_lines = 0;
  WeightTable::Survey weights;
  ModelOptions options;
};

// Reads all weights once.
ModelFigures measure_model(const Learner& learner);

// Lines for people, the last one ended, too.
std::string figures_text(const ModelFigures& figures);
// {"tree": ..., "weights": ..., "options": ...}; what summary.json has too is named and written as there.
nlohmann::ordered_json figures_json(const ModelFigures& figures);

}  // namespace cpt
