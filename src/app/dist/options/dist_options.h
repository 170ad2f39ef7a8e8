// The command line of cpt_dist.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "cpt/trainer.h"

namespace cpt {

enum class ProgressStyle { kAuto, kPlain, kNone };

struct DistOptions {
  TrainingOptions training;
  std::vector<std::string> given;  // which of describe_options() the command line or the config file names
  bool keeps_checkpoints = true;
  std::filesystem::path run = "cpt-run";
  ProgressStyle progress = ProgressStyle::kAuto;
  std::chrono::milliseconds stall_timeout{std::chrono::minutes(10)};

  bool is_given(const std::string& name) const;
};

// What the command line asks for: a run, or a text and the end (--help, --version: code 0; a usage error: code 2).
struct CommandLine {
  DistOptions options;
  bool ends = false;
  int code = 0;
  std::string text;
};

// Prints nothing. Every option may also come from the file that --config names; the command line wins.
CommandLine parse_command_line(int argc, const char* const* argv);

// Methods that are no trees are replicated. Throws Error(kUsage) where the user asks for something else.
void settle_placement(DistOptions& options);

// Name and value, as on the command line; a value shows all there is to it.
using OptionValues = std::vector<std::pair<std::string, std::string>>;

// A value as messages show it.
std::string shown(const std::string& value);

// The options of a model.
OptionValues describe_model_options(const ModelOptions& model);

// The options that shape the run, by their names on the command line, for summary.json.
OptionValues describe_options(const DistOptions& options);

}  // namespace cpt
