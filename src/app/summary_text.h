// The end of a run in words.
#pragma once

#include <filesystem>
#include <string>

#include "cpt/trainer.h"

namespace cpt {

// A few lines, each ended.
std::string summary_text(const Summary& summary, const std::filesystem::path& model);

}  // namespace cpt
