#include "app/dist/options/dist_options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <memory>
#include <sstream>

#include "app/dist/options/config_file.h"
#include "app/shared/command_line.h"
#include "app/shared/unknown_words.h"
#include "comm/mpi/mpi.h"
#include "core/version.h"
#include "cpt/error.h"

namespace cpt {

namespace {

using Words = std::vector<std::string>;
using OptionEntry = OptionRow<DistOptions>;

constexpr const char* kFooter = R"(Examples:
  mpirun -n 4 cpt_dist --data shards/
  mpirun -n 64 cpt_dist --data train/ --test test/ --run runs/ads --passes 2 --alpha 0.9
  zcat log.gz | cpt_dist --data -
  mpirun -n 8 cpt_dist --init runs/ads/model --test new/ --test-frozen --run runs/new
  mpirun -n 8 cpt_dist --data shards/ --run runs/ads --resume

Signals:
  USR1                  write a checkpoint
  USR2, TERM, HUP, INT  write a checkpoint and stop; --resume continues. A run that reads a pipe
                        keeps nothing if it is stopped. A second INT ends the process at once.
                        Under mpirun, which handles TERM, HUP and INT itself, send USR2 to mpirun.
                        Until training starts, USR1 and USR2 wait, and the others end the process.

Exit codes:
  0 done, 1 failed, 2 usage error, 65 bad input data, 66 input missing, 73 cannot write,
  75 stopped on request)";

const Names<ProgressStyle>& progress_names() {
  static const Names<ProgressStyle> names{{"auto", ProgressStyle::kAuto},
                                          {"bar", ProgressStyle::kBar},
                                          {"plain", ProgressStyle::kPlain},
                                          {"none", ProgressStyle::kNone}};
  return names;
}

std::chrono::milliseconds parse_duration(const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto number = std::from_chars(text.data(), end, value);
  const std::string unit(number.ptr, end);
  const double seconds = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
  if (number.ec != std::errc() || seconds == 0 || !(value >= 0) || value > 1e6) {
    throw Error(Fault::kUsage, "'" + text + "' is not a duration like 30s, 10m or 1h");
  }
  const std::chrono::milliseconds duration(static_cast<std::int64_t>(value * seconds * 1000));
  if (value > 0 && duration.count() == 0) throw Error(Fault::kUsage, "'" + text + "' is less than a millisecond");
  return duration;
}

constexpr const char* kNever = "never";

// "10m" is a time, "1e7" a number of examples; a number without a unit is never a time.
void set_checkpoint_every(DistOptions& options, const Words& words) {
  const std::string& text = words.front();
  CheckpointOptions& checkpoints = options.training.checkpoints;
  checkpoints.every = std::chrono::milliseconds(0);
  checkpoints.every_examples = 0;
  options.keeps_checkpoints = text != kNever;
  if (!options.keeps_checkpoints) return;
  if (text.empty() || std::isalpha(static_cast<unsigned char>(text.back())) == 0) {
    checkpoints.every_examples = parse_count(text, 1, ~std::uint64_t{0});
    return;
  }
  checkpoints.every = parse_duration(text);
  if (checkpoints.every.count() == 0) {
    throw Error(Fault::kUsage, "'" + text + "' is not an interval; use never for no checkpoints");
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

// The options of the program itself. They are not part of the state of a run.
std::vector<OptionEntry> own_rows() {
  return {
      {.name = "run",
       .group = kMainOptions,
       .value = "DIR",
       .help = "Run directory, for the model, summary.json, metrics and checkpoints",
       .binding = {[](DistOptions& o, const Words& words) { o.run = words.front(); },
                   [](const DistOptions& o) { return o.run.string(); },
                   {}}},
      {.name = "resume",
       .group = kMainOptions,
       .value = "",
       .help = "Continue from the newest complete checkpoint in the run directory, or start if there is none. Options "
               "that you omit come from the run; conflicting ones are errors, except --passes, --on-error, the shards "
               "and options that do not change the result",
       .binding = {[](DistOptions& o, const Words&) { o.training.resume = true; }, {}, {}},
       .words = OptionWords::kNone},
      {.name = "dry-run",
       .group = kMainOptions,
       .value = "",
       .help =
           "Check options, data and memory as a start does, print its warnings, and what the run would read and need: "
           "shards of each rank, examples, the first line as understood, bits, memory, disk. Train and write "
           "nothing; so nothing tells whether the run directory can be written",
       .binding = {[](DistOptions& o, const Words&) { o.dry_run = true; }, {}, {}},
       .words = OptionWords::kNone},
      {.name = "stall-timeout",
       .group = kRankOptions,
       .value = "TIME",
       .help = "End the job if a rank does not respond for this time: seconds, or a number with s, m or h; 0 waits "
               "forever. A rank whose pipe is quiet responds. While models and checkpoints are read and written, a "
               "minute more, and one for each GiB of the weight table. Default: 10m",
       .binding = {[](DistOptions& o, const Words& words) { o.stall_timeout = parse_duration(words.front()); },
                   {},
                   {}}},
      {.name = "checkpoint-every",
       .group = kCheckpointOptions,
       .value = "TIME|N",
       .help = "Write a checkpoint after this time (a number with s, m or h, such as 90s or 10m) or number of examples "
               "(a plain number, such as 1e7), and at the end of each pass; never writes none. Several ranks write it "
               "later: when the rounds in progress have ended, up to some thousands of examples per rank, or, with "
               "--placement replicated and hybrid, at the next sync point",
       .binding = {set_checkpoint_every, checkpoint_every_text, {}}},
      {.name = "overwrite",
       .group = kOutputOptions,
       .value = "",
       .help =
           "Replace the results of a finished run in the run directory, an error without it; a stopped run is refused",
       .binding = {[](DistOptions& o, const Words&) { o.overwrite = true; }, {}, {}},
       .words = OptionWords::kNone},
      {.name = "progress",
       .group = kOutputOptions,
       .value = "(" + words_of(progress_names()) + ")",
       .help =
           "What to print on standard error. plain: a table; bar: also a progress bar; auto: bar on a terminal, else "
           "plain; none: warnings only. Under mpirun no rank sees a terminal: give bar there. Default: auto",
       .binding = {[](DistOptions& o, const Words& words) {
                     o.progress = parse_choice(progress_names(), words.front());
                   },
                   {},
                   {}}},
      {.name = "progress-every",
       .group = kOutputOptions,
       .value = "TIME",
       .help =
           "Print a line of progress, and add it to metrics.jsonl, whenever this time has passed (a number with s, m "
           "or h); 0: never. Default: 10s",
       .binding = {[](DistOptions& o, const Words& words) {
                     o.training.progress_every = parse_duration(words.front());
                   },
                   {},
                   {}}},
  };
}

OptionEntry row_of(const TrainingOptionRow& row) {
  const TrainingOptionRow* from = &row;  // the table is static
  return {.name = row.name,
          .also = row.also,
          .group = row.group,
          .value = row.value,
          .help = row.help,
          .binding = {[from](DistOptions& o, const Words& words) { from->binding.set(o.training, words); },
                      [from](const DistOptions& o) { return from->binding.show(o.training); },
                      {}},
          .words = row.words,
          .excludes = row.excludes};
}

const std::vector<OptionEntry>& option_table() {
  static const std::vector<OptionEntry> table = [] {
    std::vector<OptionEntry> rows;
    for (const TrainingOptionRow& row : training_option_table()) rows.push_back(row_of(row));
    for (OptionEntry& row : own_rows()) rows.push_back(std::move(row));
    return rows;
  }();
  return table;
}

// A value of 0 or nothing stands for "not set".
std::string default_text(const OptionEntry& row, const DistOptions& defaults) {
  const std::string text = row.binding.show ? row.binding.show(defaults) : "";
  return text == "0" || row.words != OptionWords::kOne ? "" : text;
}

void add_row(CLI::App& app, const OptionEntry& row, DistOptions& options) {
  const std::string flag = std::string("--") + row.name;
  const auto set = [&row, &options, flag](const Words& words) {
    parse_value(flag, [&] { row.binding.set(options, words); });
  };
  const std::string names = *row.also == '\0' ? flag : flag + ",--" + row.also;
  CLI::Option* option = nullptr;
  switch (row.words) {
    case OptionWords::kNone:
      option = app.add_flag_callback(
          flag, [set] { set({}); }, row.help);
      break;
    case OptionWords::kOne:
      option = app.add_option_function<std::string>(
          names, [set](const std::string& word) { set({word}); }, row.help);
      break;
    case OptionWords::kEach:
    case OptionWords::kMany:
      option = app.add_option_function<Words>(flag, set, row.help);
      option->allow_extra_args(row.words == OptionWords::kMany);
      break;
  }
  option->group(row.group);
  if (row.words == OptionWords::kNone) return;
  option->type_name(row.value);
  if (row.words != OptionWords::kOne) option->option_text(row.value);
  option->default_str(default_text(row, options));
}

void add_options(CLI::App& app, DistOptions& options) {
  // CLI11 prints groups in the order of their first options.
  for (const char* group : {kMainOptions, kInputOptions, kValidationOptions, kModelOptions, kRankOptions,
                            kCheckpointOptions, kOutputOptions}) {
    for (const OptionEntry& row : option_table()) {
      if (std::string(row.group) == group) add_row(app, row, options);
    }
  }
  for (const OptionEntry& row : option_table()) {
    if (*row.excludes == '\0') continue;
    app.get_option(std::string("--") + row.name)->excludes(app.get_option(std::string("--") + row.excludes));
  }
  app.config_formatter(std::make_shared<ConfigFile>(app));
  app.set_config("--config", "", "Read options from this file, option = value on each line; the command line wins")
      ->type_name("FILE")
      ->group(kOutputOptions);
  app.allow_config_extras(CLI::config_extras_mode::error);
}

// help2man reads the first line.
std::string version_text() {
  std::ostringstream text;
  text << "cpt_dist " << kVersion << "\nCommit " << kCommit << ", " << kCompiler << ", " << mpi_version();
  return text.str();
}

// "--bits auto" is left out, because it cannot conflict with a model or a run.
Words given_options(const CLI::App& app, const DistOptions& options) {
  Words given;
  for (const OptionEntry& row : option_table()) {
    const std::string name = row.name;
    if (name == "bits" && options.training.auto_bits) continue;
    if (app.get_option("--" + name)->count() > 0) given.push_back(name);
  }
  return given;
}

std::string usage_error(const CLI::App& app, const Words& words, const CLI::ParseError& error) {
  const Words unknown = app.remaining();
  if (!unknown.empty()) return describe_unknown_words(app, unknown, Program::kCptDist);
  const std::string text = usage_text(error);
  return place_in_config(app, words, text) + text;
}

}  // namespace

bool DistOptions::is_given(const std::string& name) const { return std::ranges::find(given, name) != given.end(); }

CommandLine parse_command_line(int argc, const char* const* argv) {
  CommandLine line;
  line.options.training.auto_bits = true;
  CLI::App app(
      "Trains a conditional probability tree online, on all ranks of an MPI job. It estimates P(label | x)\n"
      "in time O(log n) for n labels.",
      "cpt_dist");
  app.footer(kFooter);
  set_help_layout(app);
  add_options(app, line.options);
  add_help_options(app, version_text());
  const Words words(argv + 1, argv + argc);
  try {
    require_values(words);
    app.parse(argc, argv);
    line.options.training.checkpoints.directory = line.options.run / "checkpoints";
    line.options.training.validate();
    line.options.given = given_options(app, line.options);
    settle_placement(line.options);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    line.ends = true;
    const bool is_config_file = dynamic_cast<const CLI::FileError*>(&error) != nullptr;
    line.code = app.exit(error, out, out) == 0 ? 0 : static_cast<int>(is_config_file ? Fault::kNoInput : Fault::kUsage);
    line.text = line.code == 0 ? out.str() : "cpt_dist: " + usage_error(app, words, error) + " (see --help)\n";
  } catch (const Error& error) {
    line.ends = true;
    line.code = static_cast<int>(error.fault());
    line.text = "cpt_dist: " + place_in_config(app, words, error.what()) + error.what() + "\n";
  }
  return line;
}

void settle_placement(DistOptions& options) {
  TrainingOptions& training = options.training;
  if (training.model.is_tree()) return;
  if (training.placement != Placement::kReplicated && options.is_given("placement")) {
    throw Error(Fault::kUsage, "--placement " + name_of(placement_names(), training.placement) +
                                   " needs a tree: with --method " + name_of(method_names(), training.model.method) +
                                   ", a probability depends on all labels, so every rank holds all weights");
  }
  training.placement = Placement::kReplicated;
}

std::vector<std::pair<std::string, std::string>> describe_options(const DistOptions& options) {
  std::vector<std::pair<std::string, std::string>> values;
  for (const OptionEntry& row : option_table()) {
    if (row.binding.show) values.emplace_back(row.name, row.binding.show(options));
  }
  return values;
}

std::vector<std::string> describe_unused(const DistOptions& options) {
  Words lines;
  for (const TrainingOptionRow& row : training_option_table()) {
    if (row.use.applies == nullptr || row.use.applies(options.training) || !options.is_given(row.name)) continue;
    lines.push_back(std::string("--") + row.name + " has no effect here: it is for " + row.use.where);
  }
  std::ranges::sort(lines);
  return lines;
}

}  // namespace cpt
