// Checks a path that the user gives as a model.
#pragma once

#include <filesystem>

namespace cpt {

// Throws Error(kNoInput) if `model` is a run directory instead of the model in it, and names that model. Every other
// mistake is found when the model is read.
void require_no_run_around_model(const std::filesystem::path& model);

}  // namespace cpt
