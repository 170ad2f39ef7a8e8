// What `cpt inspect` tells of a model: its figures, as text and as JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cpt/options.h"
#include "cpt/trainer.h"
#include "model/learning/learner.h"

namespace cpt {

// What no tree of so many labels can exceed, if the rule has grown it; see model/bounds.h.
struct TreeBounds {
  double depth_max = 0;
  double depth_mean = 0;
  double disagreements = 0;
};

struct ModelFigures {
  TreeFigures tree;
  std::optional<TreeBounds> bounds;  // none for a random tree, of which nothing is known, and for an empty one
  std::uint64_t nodes = 0;
  std::uint64_t blocks = 0;
  std::vector<std::uint64_t> labels_at_depth;  // by depth, up to the greatest; empty for an empty tree
  std::uint64_t weight_rows = 0;
  WeightTable::Survey weights;
  std::uint64_t counted_examples = 0;  // of the method `table`: distinct x
  std::uint64_t counted_pairs = 0;     // ... and distinct (x, label)
  std::uint64_t state_digest = 0;      // of weights or frequencies
  ModelOptions options;
};

// Reads all weights once.
ModelFigures measure_model(const Learner& learner);

// Lines for people, the last one ended, too.
std::string figures_text(const ModelFigures& figures);
// {"tree": ..., "weights": ..., "options": ...}; what summary.json has too is named and written as there. Bounds that
// there are not are null.
nlohmann::ordered_json figures_json(const ModelFigures& figures);

}  // namespace cpt
