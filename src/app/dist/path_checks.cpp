#include "app/dist/path_checks.h"

#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <vector>

#include "app/shared/command_line.h"
#include "cpt/error.h"
#include "store/run/checkpoints.h"
#include "store/run/run_directory.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

// The parts of a path, after links and dots are resolved.
std::vector<std::string> names_on(const fs::path& path) {
  std::vector<std::string> names;
  std::error_code unknown;
  for (const fs::path& name : fs::weakly_canonical(fs::absolute(path, unknown), unknown)) {
    if (!name.empty()) names.push_back(name.string());
  }
  return names;
}

// Matches like glob(3).
bool matches(const std::string& name, const std::string& pattern) {
  return name == pattern || ::fnmatch(pattern.c_str(), name.c_str(), FNM_PERIOD) == 0;
}

// Whether a pattern of shards matches the run directory or a file in it, including files that the run will write.
bool finds_run(const std::string& pattern, const fs::path& run) {
  const std::vector<std::string> wanted = names_on(pattern);
  const std::vector<std::string> own = names_on(run);
  if (wanted.size() != own.size() && wanted.size() != own.size() + 1) return false;
  if (!std::equal(own.begin(), own.end(), wanted.begin(), matches)) return false;
  return wanted.size() == own.size() ||
         std::ranges::any_of(RunDirectory::kNames, [&](const char* name) { return matches(name, wanted.back()); });
}

// Otherwise a second or resumed run would learn from the files of the first.
void require_no_shards(const fs::path& run, const char* option, const std::vector<std::string>& data) {
  for (const std::string& pattern : data) {
    if (!finds_run(pattern, run)) continue;
    throw Error(Fault::kUsage, "--run " + run.string() + " lies where " + option + " " + pattern +
                                   " would read the files of the run as shards: choose another directory");
  }
}

void require_something_to_learn(const DistOptions& options) {
  const TrainingOptions& training = options.training;
  const bool begins = !training.data.empty() || (!training.init.empty() && !training.test.empty());
  if (!training.resume) return;
  const bool resumes = !Checkpoints(options.run / "checkpoints").list().empty();  // throws before the run is touched
  if (begins || resumes) return;
  throw Error(Fault::kUsage, "--data is missing, and " + options.run.string() + " has no checkpoint to resume");
}

}  // namespace

void require_usable_paths(const DistOptions& options) {
  if (options.run.empty()) throw Error(Fault::kUsage, "--run is empty: name a directory");
  std::error_code unknown;
  if (fs::exists(options.run, unknown) && !fs::is_directory(options.run, unknown)) {
    throw Error(Fault::kCannotWrite, "--run " + options.run.string() + ": is not a directory");
  }
  if (is_blob_set(options.run)) {
    throw Error(Fault::kUsage,
                "--run " + options.run.string() + " is a model or a checkpoint: choose another directory");
  }
  if (!options.overwrite && !options.training.resume) RunDirectory::require_unfinished(options.run);
  require_data("--data", options.training.data);
  require_data("--test", options.training.test);
  require_data("--validate", options.training.validation.data);
  require_no_shards(options.run, "--validate", options.training.validation.data);
  require_no_shards(options.run, "--data", options.training.data);
  require_no_shards(options.run, "--test", options.training.test);
  require_something_to_learn(options);
}

}  // namespace cpt
