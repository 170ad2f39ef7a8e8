// The end of a run in words.
#pragma once

#include <filesystem>
#include <string>

#include "cpt/trainer.h"

namespace cpt {

// A few lines, each ended. `model`: where it was written; empty if it was not, and then not told.
std::string summary_text(const Summary& summary, const std::filesystem::path& model);

// One line each, not ended.
std::string balance_text(const Balance& balance, std::uint64_t interval);
std::string checkpoint_text(const CheckpointReport& report);

}  // namespace cpt
