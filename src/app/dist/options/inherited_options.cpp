#include "app/dist/options/inherited_options.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "api/checkpoint/checkpoint_reader.h"
#include "api/model_files.h"
#include "app/shared/command_line.h"
#include "cpt/error.h"
#include "store/run/checkpoints.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

std::string shown(const std::string& value) { return value.empty() ? "none" : value; }

// "--alpha is 0.8, but ORIGIN 0.9" if the option was given and the values differ; otherwise empty.
std::string conflict(const TrainingOptionRow& row, const DistOptions& now, const TrainingOptions& then,
                     const std::string& origin) {
  const std::string mine = row.binding.show(now.training);
  const std::string other = row.binding.show(then);
  if (mine == other || !now.is_given(row.name)) return "";
  return std::string("--") + row.name + " is " + shown(mine) + ", but " + origin + " " + shown(other);
}

void refuse_other_values(const DistOptions& now, const TrainingOptions& then) {
  for (const TrainingOptionRow& row : training_option_table()) {
    if (may_change_on_resume(row.on_resume, then)) continue;
    const std::string reason = conflict(row, now, then, "the run in " + now.run.string() + " was started with");
    if (reason.empty()) continue;
    throw Error(Fault::kUsage, reason + ": omit the option, or start another run with --run");
  }
}

// Training handles the shards itself: it must know whether they were given.
void take_omitted(DistOptions& options, const TrainingOptions& then) {
  for (const TrainingOptionRow& row : training_option_table()) {
    const bool is_inherited = row.on_resume != OnResume::kFree && row.on_resume != OnResume::kShards;
    if (is_inherited && !options.is_given(row.name)) row.binding.copy(options.training, then);
  }
}

// Whether `path` is `folder` or inside it, after links and dots are resolved.
bool lies_in(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  const fs::path outer = fs::weakly_canonical(folder, error);
  if (error) return false;
  const fs::path inner = fs::weakly_canonical(path, error);
  return !error && std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace

bool take_run_options(DistOptions& options) {
  std::vector<Checkpoint> checkpoints = Checkpoints(options.run / "checkpoints").list();
  std::ranges::reverse(checkpoints);
  for (const Checkpoint& checkpoint : checkpoints) {
    try {
      const TrainingOptions then = read_run_state(checkpoint.directory).options;
      refuse_other_values(options, then);
      take_omitted(options, then);
      return true;
    } catch (const Error& error) {
      if (error.fault() == Fault::kUsage) throw;  // training reports the others when it reads the checkpoint
    }
  }
  return !checkpoints.empty();
}

void take_model_options(DistOptions& options) {
  const std::string& init = options.training.init;
  if (init.empty()) return;
  if (lies_in(options.run / "model", init)) {
    throw Error(Fault::kUsage, "--init " + init + " is the model of the run directory " + options.run.string() +
                                   ", which this run replaces: choose another one with --run");
  }
  require_no_run_around_model(init);
  TrainingOptions then;
  then.model = read_model_head(init).options;
  for (const TrainingOptionRow& row : training_option_table()) {
    if (!row.binding.of_model) continue;
    const std::string reason = conflict(row, options, then, "the model " + init + " was trained with");
    if (!reason.empty()) throw Error(Fault::kUsage, reason + ": omit the option");
  }
  options.training.model = then.model;
  options.training.auto_bits = false;
  settle_placement(options);
}

}  // namespace cpt
