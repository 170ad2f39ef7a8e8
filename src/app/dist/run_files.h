// summary.json and metrics.jsonl, as documented in the README.
#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "app/dist/options/dist_options.h"
#include "cpt/trainer.h"

namespace cpt {

// The content of summary.json.
std::string summary_json(const DistOptions& options, const Summary& summary);

// One line of metrics.jsonl, without its end.
std::string metrics_line(const Report& report);
// The same for partitions that move, and for a checkpoint.
std::string metrics_line(const Balance& balance, std::uint64_t interval);
std::string metrics_line(const CheckpointReport& report);

// A text file that grows line by line and can be followed while it does. Throws Error(kCannotWrite).
class LineFile {
 public:
  // `goes_on`: what the file holds stays.
  LineFile(std::filesystem::path path, bool goes_on);
  void write(const std::string& line);

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace cpt
