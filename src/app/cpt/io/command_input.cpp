#include "app/cpt/io/command_input.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <system_error>

#include "api/input_fit.h"
#include "api/options/option_values.h"
#include "api/process_cores.h"
#include "app/shared/command_line.h"
#include "app/shared/figures_json.h"
#include "cpt/error.h"
#include "data/source/byte_source.h"

namespace cpt {

namespace {

constexpr std::uint64_t kEnoughLines = 10;        // of which one should have each namespace; a few often have some only
constexpr std::size_t kEnoughFeatures = 100'000;  // for OpenInput::look_at()

// Completes the message about a format that is not recognised; empty if the model was not trained on a known text
// format.
std::string format_advice(const Learner& learner) {
  const std::string& format = learner.input().format;
  if (format.empty() || format == name_of(format_names(), Format::kBinary)) return "";
  return "; the model was trained on " + format + ": --format " + format;
}

ReadOptions read_options(const CommandInput& input, const Model& trained, CommandNeeds needs) {
  ReadOptions read = read_options_of(trained.options());
  read.format_advice = format_advice(trained.learner());
  read.is_of_model = true;
  read.format = input.format;
  if (input.answer_bad_lines) read.fallback_format = line_format_of(trained.learner());
  read.columns = input.columns;
  if (trained.learner().input().format == name_of(format_names(), Format::kCsv)) {
    read.known_columns = trained.learner().input().name_spaces;
  }
  read.multilabel = input.multilabel;
  read.skip_bad_lines = input.skip_bad_lines;
  read.labels_required = needs.labels_required;
  read.every_line = needs.every_line;
  read.answer_bad_lines = input.answer_bad_lines;
  read.order = ShardOrder::kSequential;
  read.on_feature = std::move(needs.on_feature);
  return read;
}

// The same options, with a note of lines of several labels where that drops labels that the command needs.
ReadOptions watched(ReadOptions options, const std::shared_ptr<std::atomic<bool>>& several_labels) {
  if (options.labels_required && options.multilabel == MultiLabel::kFirst) {
    options.on_several_labels = [several_labels] { several_labels->store(true, std::memory_order_relaxed); };
  }
  return options;
}

ExampleStream stream_all(const std::vector<Shard>& shards, ReadOptions options) {
  std::vector<std::uint32_t> all(shards.size());
  std::iota(all.begin(), all.end(), 0U);
  return {shards, all, std::move(options)};
}

void add_what_to_read(CLI::App& command, CommandInput& input) {
  add_model_option(command, input.model);
  command
      .add_option("--data", input.data,
                  "Files, directories or globs, read in this order; - reads standard input; gzip and "
                  "zstd are detected")
      ->type_name("PATH")
      ->required();
  add_choice(command, "--format", input.format, format_names(),
             "Format of the data; auto detects it, except for fasttext lines without labels");
  add_columns(command, input.columns);
  add_multilabel(command, input.multilabel);
}

}  // namespace

void add_model_option(CLI::App& command, std::filesystem::path& model) {
  command.add_option("--model", model, "The model, such as RUN/model")->type_name("DIR")->required();
}

void add_model_argument(CLI::App& command, std::filesystem::path& model) {
  command.add_option("MODEL,--model", model, "The model, such as RUN/model; --model may be omitted")
      ->type_name("DIR")
      ->required();
}

Model load_model(const std::filesystem::path& model) {
  require_no_run_around_model(model);
  return Model::load(model);
}

void add_input_options(CLI::App& command, CommandInput& input) {
  add_what_to_read(command, input);
  add_on_error(command, input.skip_bad_lines, input.most_bad_lines,
               "At a bad line: stop, skip it with a warning and no output, or skip at most N");
}

void add_answered_input_options(CLI::App& command, CommandInput& input) {
  add_what_to_read(command, input);
  add_on_error(
      command, input.skip_bad_lines, input.most_bad_lines,
      "At a bad line: stop; skip: warn and print an empty line, for at most N lines; answer: print 'error: ' and "
      "the reason where the answer would be, for long-running use",
      &input.answer_bad_lines);
  command.add_flag("--with-lines", input.with_lines, "Begin each line of the output with FILE:LINE and a tab");
  command.add_flag("--with-tags", input.with_tags,
                   "Begin each line of the output, after FILE:LINE, with the vw tag of the input line and a tab");
}

void add_json_answers(CLI::App& command, CommandInput& input) {
  command.add_flag("--json", input.json, "Print a JSON object per line");
}

void add_output_option(CLI::App& command, std::filesystem::path& output) {
  command
      .add_option("--output", output, "Output file, written completely or not at all; the default is standard output")
      ->type_name("FILE");
}

void add_threads(CLI::App& command, std::size_t& threads) {
  constexpr std::size_t kMostThreads = 4096;
  threads = std::min(static_cast<std::size_t>(cores_of_process()), kMostThreads);
  add_count(command, "--threads", threads, 1, "Number of threads; the output does not depend on it", kMostThreads)
      ->default_str("one per available core");
}

std::vector<Shard> find_input(const char* option, const std::vector<std::string>& patterns, bool skips) {
  require_data(option, patterns);
  if (!skips) return find_shards(patterns);
  return find_shards(patterns, [](const std::string& path) {
    std::fprintf(stderr, "cpt: skipped: %s: is a link to nothing\n", path.c_str());
  });
}

void SkippedLines::report(std::uint64_t skipped, const std::vector<std::string>& warnings) {
  if (skipped == reported_) return;
  for (const std::string& warning : warnings) std::fprintf(stderr, "cpt: %s\n", warning.c_str());
  listed_ += warnings.size();
  constexpr std::uint64_t kSilentFrom = ExampleStream::kWarnings + 1;
  if (reported_ < kSilentFrom && skipped >= kSilentFrom) {
    std::fputs("cpt: skipped: further bad lines are not listed\n", stderr);
  }
  reported_ = skipped;
  if (const auto excess = excess_of_bad_lines(reported_, most_)) throw *excess;
}

void SkippedLines::report_all() const {
  if (reported_ > listed_) std::fprintf(stderr, "cpt: %s\n", skipped_text(reported_).c_str());
}

std::string skipped_text(std::uint64_t bad_lines) {
  return std::to_string(bad_lines) + (bad_lines == 1 ? " bad line" : " bad lines") + " skipped";
}

OpenInput::OpenInput(const CommandInput& input, CommandNeeds needs)
    : shards_(find_input("--data", input.data, input.skip_bad_lines)),
      model_(load_model(input.model)),
      read_(read_options(input, model_, std::move(needs))),
      stream_(stream_all(shards_, watched(read_, several_labels_))),
      skipped_(input.most_bad_lines),
      batch_(stream_.make_batch()),
      with_lines_(input.with_lines),
      with_tags_(input.with_tags),
      json_(input.json) {}

const Batch* OpenInput::next() {
  batch_.clear();
  const bool more = stream_.read(batch_);
  skipped_.report(stream_.bad_lines(), stream_.take_warnings());
  return more ? &batch_ : nullptr;
}

void OpenInput::require_apart(const std::filesystem::path& output) const {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(output, unknown)) return;
  for (const Shard& shard : shards_) {
    if (!is_one_file(shard, {.path = output.string()})) continue;
    throw Error(Fault::kUsage, "--output " + output.string() + " would replace the input " + input_name(shard.path));
  }
}

void OpenInput::look_closer(const ExampleView& x, const InputLine& line) {
  bare_.add(x, place_of(line));
  // Leaves out the constant feature, which comes first. Lines of many crosses have more features than are needed here.
  const std::size_t most =
      std::min(x.features.size() - 1, kEnoughFeatures - std::min(kEnoughFeatures, features_.size()));
  features_.insert(x.features.begin() + 1, x.features.begin() + 1 + static_cast<std::ptrdiff_t>(most));
  if (bare_.is_full()) end_look();
}

void OpenInput::end_look() {
  if (!std::exchange(looks_, false)) return;
  const std::vector<FeatureHash> features(features_.begin(), features_.end());
  const std::optional<bool> fits = has_met(model_.learner(), features);
  const bool names_none = read_.fields == FieldRoles{} && read_.interactions.empty() && read_.ngrams.empty();
  const bool drops_labels = several_labels_->load(std::memory_order_relaxed);
  if (fits == true && names_none && !bare_.are_dubious() && !drops_labels) return;
  FirstLook look = cpt::look_at(shards_.front(), read_);
  const std::string name = input_name(shards_.front().path);
  std::string input = name;
  if (look.format != Format::kAuto) {
    look.profile.format = name_of(format_names(), look.format);
    input += ", " + describe(look.profile);
  }
  const auto warn = [](const std::string& text) { std::fprintf(stderr, "cpt: warning: %s\n", text.c_str()); };
  if (bare_.are_dubious()) warn(bare_.warning(look.format));
  if (fits == false) {
    warn(warning_of_misfit(model_.learner(), input));
  } else if (!fits) {
    const std::string warning = warning_of_format(model_.learner(), look.profile.format, name);
    if (!warning.empty()) warn(warning);
  }
  if (drops_labels && look.several_labels > 0) warn(warning_of_several_labels(look, name));
  for (const std::string& missing : look.missing_keys) warn(warning_of_missing(look, name, missing));
  if (look.lines < kEnoughLines) return;
  for (const std::string& missing : look.missing_name_spaces) warn(warning_of_missing(look, name, missing));
}

std::string OpenInput::lead_of(const InputLine& line) const {
  if (json_) {
    std::string lead = "{";
    if (with_lines_) lead += "\"line\": " + json_text(place_of(line), -1) + ", ";
    if (with_tags_) lead += "\"tag\": " + json_text(line.tag, -1) + ", ";
    return lead;
  }
  std::string lead;
  if (with_lines_) lead += place_of(line) + "\t";
  if (with_tags_) lead += line.tag + "\t";
  return lead;
}

std::string OpenInput::place_of(const InputLine& line) const {
  return input_name(shards_[line.shard].path) + ":" + std::to_string(line.number);
}

}  // namespace cpt
