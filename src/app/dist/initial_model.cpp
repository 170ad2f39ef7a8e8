#include "app/dist/initial_model.h"

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>

#include "api/model_files.h"
#include "app/shared/model_path.h"
#include "cpt/error.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

// Whether `path` is `folder` or lies in it, by whatever links and dots they are named.
bool lies_in(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  const fs::path outer = fs::weakly_canonical(folder, error);
  if (error) return false;
  const fs::path inner = fs::weakly_canonical(path, error);
  return !error && std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace

void take_model_options(DistOptions& options) {
  const std::string& init = options.training.init;
  if (init.empty()) return;
  if (lies_in(options.run / "model", init)) {
    throw Error(Fault::kUsage, "--init " + init + " is the model of the run directory " + options.run.string() +
                                   ", which this run replaces: choose another one with --run");
  }
  require_no_run_around_model(init);
  const ModelOptions of_model = read_model_head(init).options;
  const OptionValues chosen = describe_model_options(options.training.model);
  const OptionValues expected = describe_model_options(of_model);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto& [name, value] = chosen[i];
    if (value == expected[i].second || !options.is_given(name)) continue;
    throw Error(Fault::kUsage, "--" + name + " is " + shown(value) + ", but the model " + init + " was made with " +
                                   shown(expected[i].second) + ": leave the option out");
  }
  options.training.model = of_model;
  options.training.auto_bits = false;
  settle_placement(options);
}

}  // namespace cpt
