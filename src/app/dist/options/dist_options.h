// The options of cpt_dist: those of training, from api/options/option_table.h, and those of the program itself.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "api/options/option_table.h"
#include "cpt/trainer.h"

namespace cpt {

// kAuto is kBar on a terminal, else kPlain.
enum class ProgressStyle { kAuto, kBar, kPlain, kNone };

struct DistOptions {
  TrainingOptions training;
  std::vector<std::string> given;  // names of the options that the command line or the config file sets
  bool keeps_checkpoints = true;
  std::filesystem::path run = "cpt-run";
  bool dry_run = false;    // only print what the run would do
  bool overwrite = false;  // replace the results of a finished run
  ProgressStyle progress = ProgressStyle::kAuto;
  std::chrono::milliseconds stall_timeout{std::chrono::minutes(10)};

  bool is_given(const std::string& name) const;
};

// The parsed command line: a run, or a text and an exit code (--help and --version: 0; a usage error: 2).
struct CommandLine {
  DistOptions options;
  bool ends = false;
  int code = 0;
  std::string text;
};

// Prints nothing. Every option may also come from the file that --config names; the command line wins.
CommandLine parse_command_line(int argc, const char* const* argv);

// Makes the placement of methods without a tree replicated. Throws Error(kUsage) if the user asked for another one.
void settle_placement(DistOptions& options);

// Names and values of the options that shape the run, as on the command line. For summary.json and log.txt.
std::vector<std::pair<std::string, std::string>> describe_options(const DistOptions& options);

// Describes the given options that have no effect on this run, which is usually a mistake: one line each, without a
// line end. Call it after the options of a model or a resumed run have been taken.
std::vector<std::string> describe_unused(const DistOptions& options);

}  // namespace cpt
