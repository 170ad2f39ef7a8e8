// The texts that cpt_dist prints and logs about a run: its summary, and single events.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "cpt/trainer.h"
#include "train/training.h"

namespace cpt {

// Several lines, each with its line end. `model`: where the model was written; empty if there is none.
std::string summary_text(const Summary& summary, const ValidationOptions& validation,
                         const std::filesystem::path& model);

// One line each, without a line end.
std::string balance_text(const Balance& balance, std::uint64_t interval);
std::string checkpoint_text(const CheckpointReport& report);
std::string validation_text(const Validation& validation, Metric metric);
std::string stretch_text(const Stretch& stretch);

// "0.1234"; "-" if no example had a seen label.
std::string log_seen_text(const Losses& losses);
// 1234567 as 1,234,567.
std::string grouped(std::uint64_t count);
// "1 bad line", "1,024 bad lines".
std::string counted(std::uint64_t count, const char* of_one);
// "9.5 MiB", "1,024 MiB".
std::string mebibytes(std::uint64_t bytes);
// Seconds as h:mm:ss or m:ss.
std::string clock_text(double seconds);
// Where a resumed run continues.
std::string resumption_text(const Resumption& resumption);

}  // namespace cpt
