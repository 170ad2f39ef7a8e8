// The table of training options: one row per option, from which the command line, the config file, --help,
// summary.json, the comparison of ranks, --init and --resume all follow.
//
// To add an option: (1) give TrainingOptions or ModelOptions a member with its default, and (2) add a row to
// option_table.cpp. Nothing else lists options, with one exception: an option that a resumed run must keep is also
// written to checkpoints, by serialize() in api/checkpoint/run_state_archive.h, where the order of members is the file
// format. The test OptionTable.CheckpointsKeepWhatResumeNeeds fails until that is done. Options of cpt_dist that do not
// belong to training (the run directory, progress) have their rows in app/dist/options/dist_options.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cpt/trainer.h"

namespace cpt {

// The number of words of the command line that follow an option.
enum class OptionWords : std::uint8_t {
  kNone,  // a flag
  kOne,
  kEach,  // one, and the option may be repeated
  kMany,
};

// How --resume treats an option.
enum class OnResume : std::uint8_t {
  kFixed,                   // the run keeps its value; another value is an error
  kMayChange,               // a given value replaces that of the run
  kMayChangeIfPartitioned,  // fixed in replicated and hybrid runs, whose results depend on it
  kShards,                  // like kMayChange; an empty list means that of the run
  kFree,                    // not part of the run: only the value given now counts
};

// How a row reads and writes its value in the options.
template <class Options>
struct OptionBinding {
  // Takes the words that follow the option; none for a flag. Throws Error(kUsage) that does not name the option.
  std::function<void(Options&, const std::vector<std::string>&)> set;
  // The value as the command line takes it. Empty function: the option is not part of summary.json and log.txt.
  std::function<std::string(const Options&)> show;
  std::function<void(Options& to, const Options& from)> copy;
  bool of_model = false;  // the value is part of ModelOptions, so a model given with --init brings it
};

// When an option has an effect. Given elsewhere, it causes a warning.
template <class Options>
struct OptionUse {
  bool (*applies)(const Options&) = nullptr;  // null: always
  const char* where = "";                     // completes "it is for ..."
};

template <class Options>
struct OptionRow {
  const char* name;        // without the dashes
  const char* also = "";   // another name
  const char* group = "";  // of --help
  std::string value = {};  // placeholder of the value in --help; empty for a flag
  const char* help;
  OptionBinding<Options> binding;
  OptionWords words = OptionWords::kOne;
  OnResume on_resume = OnResume::kFixed;
  OptionUse<Options> use = {};
  const char* excludes = "";  // another option that may not be given with this one
};

using TrainingOptionRow = OptionRow<TrainingOptions>;

// Groups of --help, in this order.
inline constexpr const char* kMainOptions = "Main options";
inline constexpr const char* kInputOptions = "Input";
inline constexpr const char* kValidationOptions = "Validation";
inline constexpr const char* kModelOptions = "Model";
inline constexpr const char* kRankOptions = "Ranks";
inline constexpr const char* kCheckpointOptions = "Checkpoints";
inline constexpr const char* kOutputOptions = "Output";

const std::vector<TrainingOptionRow>& training_option_table();

// The options of a resumed run: `then`, as stored in the checkpoint, with those of `now` that may change.
TrainingOptions options_on_resume(const TrainingOptions& then, const TrainingOptions& now);

// Whether a run that began with `then` may continue with another value of the option.
bool may_change_on_resume(OnResume on_resume, const TrainingOptions& then);

}  // namespace cpt
