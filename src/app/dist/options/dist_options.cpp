#include "app/dist/options/dist_options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <sstream>

#include "app/dist/options/tree_option.h"
#include "app/shared/help_format.h"
#include "app/shared/option_names.h"
#include "app/shared/option_values.h"
#include "app/shared/parse_reason.h"
#include "comm/mpi/mpi.h"
#include "core/number_text.h"
#include "core/version.h"
#include "cpt/error.h"
#include "data/shards/split.h"

namespace cpt {

namespace {

constexpr const char* kExample = R"(Examples:
  mpirun -n 4 cpt_dist --data shards/
  mpirun -n 64 cpt_dist --data train/ --test test/ --run runs/ads --passes 2 --alpha 0.9
  zcat log.gz | cpt_dist --data -
  mpirun -n 8 cpt_dist --init runs/ads/model --test new/ --test-frozen --run runs/new
  mpirun -n 8 cpt_dist --data shards/ --run runs/ads --resume

Signals: USR1 writes a checkpoint; USR2, TERM, HUP and INT (Ctrl-C) write one and stop, to be
started again with --resume (a run that reads a pipe keeps nothing); a second INT ends at once.
A HUP that is ignored, as under nohup, stays so. To mpirun, which heeds TERM, HUP and INT in its own
way (HUP under nohup, too) and exits with its own code, send USR2.

Exit codes: 0 done, 1 failed, 2 usage, 65 bad input data, 66 input missing, 73 cannot write,
75 stopped on request.)";

const Names<ProgressStyle>& progress_names() {
  static const Names<ProgressStyle> names{
      {"auto", ProgressStyle::kAuto}, {"plain", ProgressStyle::kPlain}, {"none", ProgressStyle::kNone}};
  return names;
}

std::chrono::milliseconds parse_duration(const char* option, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, value);
  const std::string unit(number.ptr, end);
  const double seconds = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (number.ec != std::errc() || seconds == 0 || !(value >= 0) || value > 1e6) {
    throw CLI::ValidationError(option, "'" + text + "' is not a duration like 30s, 10m or 1h");
  }
  const std::chrono::milliseconds duration(static_cast<std::int64_t>(value * seconds * 1000));
  if (value > 0 && duration.count() == 0) {
    throw CLI::ValidationError(option, "'" + text + "' is less than a millisecond");
  }
  return duration;
}

constexpr const char* kAuto = "auto";

void parse_bits(const std::string& text, TrainingOptions& training) {
  training.auto_bits = text == kAuto;
  if (training.auto_bits) return;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, training.model.bits);
  if (number.ec == std::errc() && number.ptr == end) return;
  throw CLI::ValidationError("--bits", "'" + text + "' is neither a whole number nor auto");
}

constexpr const char* kNever = "never";

// "10m" is a time, "1e7" a number of examples, and a number without a unit never a time.
void parse_checkpoint_every(const std::string& text, DistOptions& options) {
  CheckpointOptions& checkpoints = options.training.checkpoints;
  checkpoints.every = std::chrono::milliseconds(0);
  checkpoints.every_examples = 0;
  options.keeps_checkpoints = text != kNever;
  if (!options.keeps_checkpoints) return;
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text.back())) == 0) {
    checkpoints.every_examples = require_count("--checkpoint-every", text, 1, ~std::uint64_t{0});
    return;
  }
  checkpoints.every = parse_duration("--checkpoint-every", text);
  if (checkpoints.every.count() == 0) {
    throw CLI::ValidationError("--checkpoint-every", "'" + text + "' is no time: use never for no checkpoints");
  }
}

std::string checkpoint_every_text(const DistOptions& options) {
  const CheckpointOptions& checkpoints = options.training.checkpoints;
  if (!options.keeps_checkpoints) return kNever;
  if (checkpoints.every_examples != 0) return std::to_string(checkpoints.every_examples);
  char text[32];
  const double seconds = std::chrono::duration<double>(checkpoints.every).count();
  const char* end = std::to_chars(text, text + sizeof text, seconds, std::chars_format::fixed).ptr;
  return std::string(static_cast<const char*>(text), end) + "s";
}

std::string on_error_text(const TrainingOptions& training) {
  if (!training.skip_bad_lines) return "stop";
  return training.most_bad_lines ? "skip:" + std::to_string(*training.most_bad_lines) : "skip";
}

void add_input_options(CLI::App& app, TrainingOptions& training) {
  const char* group = "Input";
  app.add_option("--data", training.data,
                 "shards to learn: files, directories, globs; - is standard input (one rank); "
                 "gzip and zstd are told by content; needed unless there are --init and --test, or a run to --resume")
      ->type_name("PATH")
      ->group(group);
  app.add_option("--test", training.test,
                 "shards streamed after the last pass: predicted, then learned; reported apart")
      ->type_name("PATH")
      ->group(group);
  app.add_flag("--test-frozen", training.test_frozen, "the test shards are predicted only")->group(group);
  add_choice(app, "--format", training.format, format_names(), "of the shards; auto tells it by content")->group(group);
  add_multilabel(app, training.multilabel)->group(group);
  app.add_option("--interactions", training.model.interactions,
                 "a cross of two namespaces by their first frames, like ab: a feature for each pair of theirs; may "
                 "be given several times")
      ->option_text("AB")
      ->allow_extra_args(false)
      ->group(group);
  add_choice(app, "--normalize", training.model.normalize, normalize_names(), "l2 scales every x to length 1")
      ->group(group);
  app.add_option_function<std::string>(
         "--split",
         [&training](const std::string& text) {
           training.split = static_cast<std::uint32_t>(require_count("--split", text, 1, kMostFileParts));
         },
         "read each file as N shards, 4096 at most, which several ranks share: lines by ranges of bytes, binary shards "
         "by blocks; compressed files and pipes stay whole")
      ->type_name("N")
      ->default_str("1")
      ->group(group);
  add_on_error(app, training.skip_bad_lines, training.most_bad_lines,
               "at a bad line: stop, skip, or skip:N to give up after N in a pass")
      ->group(group);
  add_count(app, "--passes", training.passes, 1, "traversals of the data")->group(group);
}

void add_model_options(CLI::App& app, TrainingOptions& training) {
  const char* group = "Model";
  ModelOptions& model = training.model;
  app.add_option("--init", training.init,
                 "begin with this model, the model/ of an earlier run; options of a model not given are its own, and "
                 "others than its own are refused")
      ->type_name("MODEL")
      ->group(group);
  add_choice(
      app, "--method", model.method, method_names(),
      "tree: a regressor at every node; cpecoc: nodes of --arity ways, each with a code over its children; "
      "oaa: a regressor for every label, all of them visited by every example; table: how often the label came with "
      "the identical x; pecoc: a code of regressors over all labels, which must be known beforehand")
      ->group(group);
  app.add_option(
         "--labels", training.labels,
         "of pecoc: a file of all labels, one a line; without it they are looked for in the shards, which takes a "
         "pass more")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--arity", model.arity, "of cpecoc: 2, 4, 8 or 16 ways at a node")
      ->type_name("K")
      ->capture_default_str()
      ->group(group);
  add_tree(app, training)->group(group);
  app.add_option("--alpha", model.alpha, "of the online tree, in (0, 1]: weight of balance against the regressors")
      ->type_name("A")
      ->capture_default_str()
      ->group(group);
  add_choice(app, "--loss", model.loss, loss_names(), "of the node regressors; squared is the paper's")->group(group);
  add_choice(app, "--update", model.update, update_names(), "of the weights")->group(group);
  app.add_option("--learning-rate", model.learning_rate, "step size")
      ->type_name("R")
      ->capture_default_str()
      ->group(group);
  app.add_option_function<std::string>(
         "--bits", [&training](const std::string& text) { parse_bits(text, training); },
         "the weight table has 2^B lines of 64 bytes; one that does not fit into memory is refused. auto: by the size "
         "of the data (2^22 for 30 MB of text, eight times as many lines for sixteen times as much), and at most half "
         "of the free memory")
      ->type_name("B|auto")
      ->default_str(kAuto)
      ->group(group);
  app.add_option("--clip", model.clip, "node probabilities are kept in [E, 1 - E] when predicting; 0 is the paper's")
      ->type_name("E")
      ->capture_default_str()
      ->group(group);
  add_count(app, "--seed", model.seed, 0, "of hashing and of every random choice")->group(group);
}

void add_rank_options(CLI::App& app, DistOptions& options) {
  const char* group = "Ranks";
  add_choice(app, "--placement", options.training.placement, placement_names(),
             "owned: each rank holds a part of the weights, and the result is that of one rank; replicated: each holds "
             "all of them, merged at sync points")
      ->group(group);
  add_choice(app, "--merge", options.training.merge, merge_names(), "replicated: how the ranks' weights become one set")
      ->group(group);
  auto* fraction =
      app.add_option("--sync-fraction", options.training.sync_fraction,
                     "an interval, at whose end replicas merge and owners are balanced, ends after this fraction of "
                     "all examples so far")
          ->type_name("F")
          ->capture_default_str()
          ->group(group);
  add_count(app, "--sync-examples", options.training.sync_examples, 1,
            "an interval ends after every N examples instead")
      ->default_str("")
      ->excludes(fraction)
      ->group(group);
  add_count(app, "--round-examples", options.training.round_examples, 1,
            "examples that all ranks together take in a round, about; owned: changes speed only")
      ->default_str("")
      ->group(group);
  app.add_option_function<std::string>(
         "--stall-timeout",
         [&options](const std::string& text) { options.stall_timeout = parse_duration("--stall-timeout", text); },
         "the job ends if a rank is not heard of for so long: seconds, or a number with s, m or h; 0 waits for ever")
      ->type_name("TIME")
      ->default_str("10m")
      ->group(group);
}

void add_checkpoint_options(CLI::App& app, DistOptions& options) {
  const char* group = "Checkpoints";
  app.add_flag(
         "--resume", options.training.resume,
         "go on from the newest complete checkpoint in the run directory, or start if there is none; options not "
         "given are those of the run, and others than its own are refused, but for --passes, --on-error, new shards, "
         "and what does not change the result (--keep, --checkpoint-every, owned: --round-examples)")
      ->group(group);
  app.add_option_function<std::string>(
         "--checkpoint-every", [&options](const std::string& text) { parse_checkpoint_every(text, options); },
         "write a checkpoint after so long (a number with s, m or h: 90s, 10m) or so many examples (a number alone: "
         "90, 1e7), and at the end of each pass; or never")
      ->type_name("TIME|N")
      ->default_str("10m")
      ->group(group);
  add_count(app, "--keep", options.training.checkpoints.keep, 1, "checkpoints, the newest; older ones are removed")
      ->group(group);
}

void add_output_options(CLI::App& app, DistOptions& options) {
  const char* group = "Output";
  app.add_option("--run", options.run,
                 "the run directory; locked while in use, results of an earlier run that is finished are replaced")
      ->type_name("DIR")
      ->default_str(options.run.string())
      ->group(group);
  add_choice(app, "--progress", options.progress, progress_names(),
             "on standard error: plain is a table; auto adds a bar where that is a terminal, which it is not under "
             "mpirun; none leaves warnings only")
      ->group(group);
  app.set_config("--config", "", "read options from this file, option = value on each line; the command line wins")
      ->type_name("FILE")
      ->group(group);
  app.allow_config_extras(CLI::config_extras_mode::error);
}

std::string version_text() {
  std::ostringstream text;
  text << "cpt_dist " << kVersion << " (commit " << kCommit << ", " << kCompiler << ", " << mpi_version() << ")";
  return text.str();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> given_options(const CLI::App& app, const DistOptions& options) {
  std::vector<std::string> given;
  for (const auto& [name, value] : describe_options(options)) {
    const bool asks_for_nothing = name == "bits" && options.training.auto_bits;
    if (app.get_option("--" + name)->count() > 0 && !asks_for_nothing) given.push_back(name);
  }
  return given;
}

}  // namespace

bool DistOptions::is_given(const std::string& name) const { return std::ranges::find(given, name) != given.end(); }

std::string shown(const std::string& value) { return value.empty() ? "none" : value; }

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  line.options.training.auto_bits = true;
  CLI::App app("Trains a conditional probability tree online, on all ranks of an MPI job: P(label | x) in O(log n).",
               "cpt_dist");
  app.footer(kExample);
  app.set_version_flag("--version", version_text());
  lay_out_help(app);
  add_input_options(app, line.options.training);
  add_model_options(app, line.options.training);
  add_rank_options(app, line.options);
  add_checkpoint_options(app, line.options);
  add_output_options(app, line.options);
  const std::vector<std::string> words(argv + 1, argv + argc);
  const auto place_and_reason = [&](const std::string& reason) { return place_in_config(app, words, reason) + reason; };
  try {
    require_values(words);
    app.parse(argc, argv);
    line.options.training.validate();
    line.options.given = given_options(app, line.options);
    settle_placement(line.options);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    line.ends = true;
    const bool is_file = dynamic_cast<const CLI::FileError*>(&error) != nullptr;  // that of --config
    line.code = app.exit(error, out, out) == 0 ? 0 : static_cast<int>(is_file ? Fault::kNoInput : Fault::kUsage);
    line.text = line.code == 0 ? out.str() : "cpt_dist: " + place_and_reason(reason_of(app, error)) + " (see --help)\n";
  } catch (const Error& error) {
    line.ends = true;
    line.code = static_cast<int>(error.fault());
    line.text = "cpt_dist: " + place_and_reason(error.what()) + "\n";
  }
  return line;
}

void settle_placement(DistOptions& options) {
  TrainingOptions& training = options.training;
  if (training.model.is_tree()) return;
  if (training.placement == Placement::kPartitioned && options.is_given("placement")) {
    throw Error(Fault::kUsage, "--placement partitioned is for trees: with --method " +
                                   name_of(method_names(), training.model.method) +
                                   " a probability needs what is known of all labels, so every rank holds all of it");
  }
  training.placement = Placement::kReplicated;
}

OptionValues describe_model_options(const ModelOptions& model) {
  return {
      {"interactions", joined(model.interactions)},
      {"normalize", name_of(normalize_names(), model.normalize)},
      {"method", name_of(method_names(), model.method)},
      {"arity", std::to_string(model.arity)},
      {"tree", name_of_tree(model.tree)},
      {"alpha", number_text(model.alpha)},
      {"loss", name_of(loss_names(), model.loss)},
      {"update", name_of(update_names(), model.update)},
      {"learning-rate", number_text(model.learning_rate)},
      {"bits", std::to_string(model.bits)},
      {"clip", number_text(model.clip)},
      {"seed", std::to_string(model.seed)},
  };
}

OptionValues describe_options(const DistOptions& options) {
  const TrainingOptions& t = options.training;
  OptionValues values{
      {"data", joined(t.data)},
      {"test", joined(t.test)},
      {"test-frozen", t.test_frozen ? "true" : "false"},
      {"format", name_of(format_names(), t.format)},
      {"multilabel", name_of(multilabel_names(), t.multilabel)},
      {"on-error", on_error_text(t)},
      {"split", std::to_string(t.split)},
      {"passes", std::to_string(t.passes)},
      {"init", t.init},
      {"labels", t.labels},
      {"placement", name_of(placement_names(), t.placement)},
      {"merge", name_of(merge_names(), t.merge)},
      {"sync-fraction", number_text(t.sync_fraction)},
      {"sync-examples", std::to_string(t.sync_examples)},
      {"round-examples", std::to_string(t.round_examples)},
      {"run", options.run.string()},
      {"checkpoint-every", checkpoint_every_text(options)},
      {"keep", std::to_string(t.checkpoints.keep)},
  };
  OptionValues of_model = describe_model_options(t.model);
  const auto tree = std::ranges::find(of_model, "tree", &OptionValues::value_type::first);
  if (!t.given_tree.empty()) tree->second = t.given_tree;
  if (t.auto_bits) std::ranges::find(of_model, "bits", &OptionValues::value_type::first)->second = kAuto;
  values.insert(values.end(), of_model.begin(), of_model.end());
  return values;
}

}  // namespace cpt
