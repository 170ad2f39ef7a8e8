// The figures of a model that `cpt inspect` shows.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/learning/learner.h"

namespace cpt {

// Both functions read all weights once.

// Lines for people, each with its line end.
std::string figures_text(const Learner& learner);
// {"tree": ..., "weights": ..., "options": ...}. Figures that summary.json has too have the same names and formats
// there. Unknown bounds are null.
nlohmann::ordered_json figures_json(const Learner& learner);

}  // namespace cpt
