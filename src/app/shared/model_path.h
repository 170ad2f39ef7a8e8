// Where the user says that a model is.
#pragma once

#include <filesystem>

namespace cpt {

// Throws Error(kNoInput) where `model` is not one but the run directory around one, naming that. Of everything else,
// what reads the model tells.
void require_no_run_around_model(const std::filesystem::path& model);

}  // namespace cpt
