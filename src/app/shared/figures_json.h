// JSON texts, and the objects that summary.json and `cpt inspect --json` have in common. src/app/README.md documents
// their fields.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "core/number_text.h"
#include "cpt/trainer.h"

namespace cpt {

// `indent`: number of spaces per level, or -1 for a single line. Bytes that are not UTF-8, as paths and labels may
// have, are replaced.
inline std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

inline nlohmann::ordered_json tree_json(const TreeFigures& tree) {
  if (tree.is_flat) return {{"labels", tree.labels}, {"digest", digest_text(tree.digest)}};
  nlohmann::ordered_json json{{"trees", tree.trees},
                              {"labels", tree.labels},
                              {"depth_max", tree.depth_max},
                              {"depth_mean", tree.depth_mean},
                              {"depth_bound", nullptr},
                              {"disagreements", tree.disagreements},
                              {"digest", digest_text(tree.digest)}};
  if (tree.depth_bound > 0) json["depth_bound"] = tree.depth_bound;
  return json;
}

// `rows_used`: number of rows that were trained; the object holds their fraction of all, 2^bits for each tree.
inline nlohmann::ordered_json weights_json(int bits, int trees, std::uint64_t rows_used, std::uint64_t digest) {
  constexpr std::uint64_t kRowBytes = 64;
  const std::uint64_t rows = static_cast<std::uint64_t>(trees) << bits;
  return {{"bits", bits},
          {"rows_used", static_cast<double>(rows_used) / static_cast<double>(rows)},
          {"bytes", rows * kRowBytes},
          {"digest", digest_text(digest)}};
}

}  // namespace cpt
