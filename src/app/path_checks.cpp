#include "app/path_checks.h"

#include <string>
#include <system_error>
#include <vector>

#include "cpt/error.h"
#include "store/checkpoints.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

void require_directory_or_nothing(const char* option, const fs::path& path) {
  std::error_code unknown;
  if (!fs::exists(path, unknown) || fs::is_directory(path, unknown)) return;
  throw Error(Fault::kCannotWrite, std::string(option) + " " + path.string() + ": is not a directory");
}

// What a run writes there would be shards of the next one.
void require_no_shards(const fs::path& run, const char* option, const std::vector<std::string>& data) {
  for (const std::string& path : data) {
    std::error_code unknown;
    if (!fs::is_directory(path, unknown) || !fs::equivalent(path, run, unknown)) continue;
    throw Error(Fault::kUsage,
                "--run " + run.string() + " is the folder of shards that " + option + " names: choose another one");
  }
}

void require_something_to_learn(const DistOptions& options) {
  const TrainingOptions& training = options.training;
  const bool begins = !training.data.empty() || (!training.init.empty() && !training.test.empty());
  if (begins || !training.resume || !Checkpoints(options.run / "checkpoints").list().empty()) return;
  throw Error(Fault::kUsage, "--data is missing, and " + options.run.string() + " has no checkpoint to resume");
}

}  // namespace

void require_usable_paths(const DistOptions& options) {
  if (options.run.empty()) throw Error(Fault::kUsage, "--run is empty: name a directory");
  require_directory_or_nothing("--run", options.run);
  require_directory_or_nothing("--cache", options.training.cache);
  require_no_shards(options.run, "--data", options.training.data);
  require_no_shards(options.run, "--test", options.training.test);
  require_something_to_learn(options);
}

}  // namespace cpt
