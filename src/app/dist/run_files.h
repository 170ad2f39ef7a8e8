// The files summary.json and metrics.jsonl of a run directory. src/app/README.md documents their fields.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "app/dist/options/dist_options.h"
#include "cpt/trainer.h"
#include "train/training.h"

namespace cpt {

// The content of summary.json.
std::string summary_json(const DistOptions& options, const Summary& summary);

// A line of metrics.jsonl, without its line end, for a report, a stretch, a validation, a rebalancing or a checkpoint.
std::string metrics_line(const Report& report);
std::string metrics_line(const Stretch& stretch);
std::string metrics_line(const Validation& validation);
std::string metrics_line(const Balance& balance, std::uint64_t interval);
std::string metrics_line(const CheckpointReport& report);

// Removes the lines of metrics.jsonl that were written after the checkpoint; the resumed run writes them again.
void cut_metrics(const std::filesystem::path& metrics, const Resumption& resumption);

// A text file that is flushed after each line, so that other programs can follow it. Throws Error(kCannotWrite).
class LineFile {
 public:
  // `append`: keep the content of the file.
  LineFile(std::filesystem::path path, bool append);
  void write(const std::string& line);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace cpt
