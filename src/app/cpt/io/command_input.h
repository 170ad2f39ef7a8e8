// What the commands that read examples share: their options, the model, the data, and warnings about bad lines.
#pragma once

#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpt/input.h"
#include "cpt/model.h"
#include "data/pipeline/example_stream.h"
#include "data/pipeline/first_look.h"
#include "data/shards/shards.h"

namespace cpt {

// The values of the options.
struct CommandInput {
  std::filesystem::path model;
  std::vector<std::string> data;
  Format format = Format::kAuto;
  std::vector<std::string> columns;
  MultiLabel multilabel = MultiLabel::kFirst;
  bool skip_bad_lines = false;
  std::optional<std::uint64_t> most_bad_lines;
  // Of commands that answer every line.
  bool answer_bad_lines = false;
  bool with_lines = false;
  bool with_tags = false;
  bool json = false;  // each answer is a JSON object
};

void add_model_option(CLI::App& command, std::filesystem::path& model);
// The same, but the path may also stand alone, without --model.
void add_model_argument(CLI::App& command, std::filesystem::path& model);
// Throws the errors of Model::load() and, if `model` is a run directory, Error(kNoInput) that names the model in it.
Model load_model(const std::filesystem::path& model);
// --model, --data, --format, --columns, --multilabel, --on-error.
void add_input_options(CLI::App& command, CommandInput& input);
// The same for a command that answers every line: --on-error also takes "answer", and there are --with-lines and
// --with-tags.
void add_answered_input_options(CLI::App& command, CommandInput& input);
// --json.
void add_json_answers(CLI::App& command, CommandInput& input);
void add_output_option(CLI::App& command, std::filesystem::path& output);
// --threads. The default is one thread for each core that this process may use.
void add_threads(CLI::App& command, std::size_t& threads);

// Finds the data. If the command skips bad lines (`skips`), it also skips links to nothing, and reports them on
// standard error. `option`: what names the data. Throws the errors of require_data() and find_shards().
std::vector<Shard> find_input(const char* option, const std::vector<std::string>& patterns, bool skips);

// Reports skipped lines on standard error. Not thread-safe.
class SkippedLines {
 public:
  // `most`: the largest number of lines that may be skipped; if empty, there is no limit.
  explicit SkippedLines(std::optional<std::uint64_t> most) : most_(most) {}

  // Call it after each read from a stream. `skipped`: the number of lines that the stream has skipped since its start.
  // `warnings`: its warnings about new ones; the stream gives warnings for the first ones only. Throws Error(kBadData)
  // if `skipped` exceeds the limit.
  void report(std::uint64_t skipped, const std::vector<std::string>& warnings);
  // Call it at the end. Says how many lines were skipped, unless each has had a warning.
  void report_all() const;
  std::uint64_t count() const { return reported_; }

 private:
  std::optional<std::uint64_t> most_;
  std::uint64_t reported_ = 0;
  std::uint64_t listed_ = 0;
};

// "1 bad line skipped", "30 bad lines skipped".
std::string skipped_text(std::uint64_t bad_lines);

// Requirements of a command, beyond the options of the user.
struct CommandNeeds {
  bool labels_required = true;  // if false, lines may have no label
  bool every_line = false;      // see ReadOptions
  std::function<void(FeatureHash, std::string_view name_space, std::string_view name)> on_feature = {};
};

// A model, and the examples of the input, one shard after another, read with the model's options. Skipped lines are
// reported on standard error. Not thread-safe.
class OpenInput {
 public:
  // Finds the data before it loads the model, because loading may take long. Throws the errors of find_input() and
  // load_model().
  OpenInput(const CommandInput& input, CommandNeeds needs);

  Model& model() { return model_; }

  // The example(s) of the next good line, several only for MultiLabel::kSplit; nullptr at the end. If the command needs
  // every line: the examples of the next line, good or bad, which may be none. Valid until the next call. Throws
  // Error(kBadData) at a bad line, or when more were skipped than the user allows.
  const Batch* next();
  // The line of the last next(), if the command needs every line.
  const InputLine& line() const { return stream_.line(); }

  // Records the first examples, and warns on standard error if they do not fit the model or have no features. Of a
  // file, it also warns of what the model's options name and the first lines lack, and, if the command needs labels, of
  // labels that --multilabel first drops. Call look_at() for each example in order, and end_look() at the end of the
  // input.
  void look_at(const ExampleView& x, const InputLine& line) {
    if (looks_) look_closer(x, line);
  }
  void end_look();

  // For callers that read the stream themselves. next() must not be called afterwards.
  ExampleStream take_stream() { return std::move(stream_); }
  // See SkippedLines::report().
  void report_skipped(std::uint64_t skipped, const std::vector<std::string>& warnings) {
    skipped_.report(skipped, warnings);
  }
  // See SkippedLines::report_all() and count().
  void report_all_skipped() const { skipped_.report_all(); }
  std::uint64_t bad_lines() const { return skipped_.count(); }
  // See ExampleStream::on_input_idle().
  void on_input_idle(std::function<void()> call) { stream_.on_input_idle(std::move(call)); }

  // Throws Error(kUsage) if the output would replace a file of the input.
  void require_apart(const std::filesystem::path& output) const;

  // The place of a line in the input, "FILE:LINE"; for a record of a table, that of its first line.
  std::string place_of(const InputLine& line) const;
  // What --with-lines and --with-tags put in front of the answer to a line; the start of an object if answers are JSON.
  std::string lead_of(const InputLine& line) const;
  bool answers_in_json() const { return json_; }

 private:
  void look_closer(const ExampleView& x, const InputLine& line);

  std::vector<Shard> shards_;
  Model model_;
  ReadOptions read_;
  // Whether a line has had several labels. Shared, because the thread that reads sets it.
  std::shared_ptr<std::atomic<bool>> several_labels_ = std::make_shared<std::atomic<bool>>(false);
  ExampleStream stream_;
  SkippedLines skipped_;
  Batch batch_;
  bool with_lines_;
  bool with_tags_;
  bool json_;
  bool looks_ = true;  // still looking at the first examples
  BareExamples bare_;
  std::set<FeatureHash> features_;  // of the first examples
};

}  // namespace cpt
