// The vector kernel that finds the rows of an example.
#pragma once

#include <cstdint>
#include <span>

#include "cpt/example.h"
#include "model/weights/weight_table.h"

namespace cpt {

// out[f] = where the row WeightTable::index(features[f], key, region) begins, of a table that begins at `table`.
void find_rows(std::span<const FeatureHash> features, std::uint64_t key, const Region& region, float* table,
               float** out);

}  // namespace cpt
