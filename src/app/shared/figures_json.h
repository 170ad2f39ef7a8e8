// JSON objects that summary.json and `cpt inspect --json` have in common.
#pragma once

#include <nlohmann/json.hpp>

#include "cpt/trainer.h"

namespace cpt {

nlohmann::ordered_json tree_json(const TreeFigures& tree);

// rows_used becomes a fraction of all 2^bits rows.
nlohmann::ordered_json weights_json(int bits, std::uint64_t rows_used, std::uint64_t digest);

}  // namespace cpt
