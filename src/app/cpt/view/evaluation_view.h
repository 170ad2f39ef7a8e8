// The figures that `cpt evaluate` shows.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "model/learning/evaluation.h"

namespace cpt {

// `bad_lines`: that were skipped; `by_label`: with a row for each label.

// Lines for people, each with its line end.
std::string evaluation_text(const Evaluation& evaluation, std::uint64_t bad_lines, bool by_label);
// src/app/README.md documents the fields.
nlohmann::ordered_json evaluation_json(const Evaluation& evaluation, std::uint64_t bad_lines, bool by_label);

}  // namespace cpt
