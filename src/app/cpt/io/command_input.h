// What the commands that read examples share: the model, the data, and how bad lines are met.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/cpt/io/skipped_lines.h"
#include "cpt/input.h"
#include "cpt/model.h"
#include "data/pipeline/example_stream.h"
#include "data/shards/shards.h"

namespace cpt {

// As the user chose it.
struct CommandInput {
  std::filesystem::path model;
  std::vector<std::string> data;
  Format format = Format::kAuto;
  MultiLabel multilabel = MultiLabel::kFirst;
  bool skip_bad_lines = false;
  std::optional<std::uint64_t> most_bad_lines;
};

void add_model_option(CLI::App& command, std::filesystem::path& model);
// Throws what Model::load() throws, and for a run directory Error(kNoInput) that names the model in it.
Model load_model(const std::filesystem::path& model);
// --model, --data, --format, --multilabel, --on-error.
void add_input_options(CLI::App& command, CommandInput& input);

// What a command asks of its input beyond the user's choices.
struct CommandNeeds {
  bool labels_required = true;  // else lines may have no label
  std::function<void(FeatureHash, std::string_view name_space, std::string_view name)> on_feature = {};
};

// A model and examples for it: one shard after another, read as the model's options say. Skipped lines become warnings
// on standard error. For one thread.
class OpenInput {
 public:
  // Looks for the data before it loads the model, since that may take long. Throws what find_shards() and load_model()
  // throw.
  OpenInput(const CommandInput& input, CommandNeeds needs);

  Model& model() { return model_; }

  // The example(s) of the next good line, several only for MultiLabel::kSplit; nullptr at the end. Valid until the next
  // call. Throws Error(kBadData) at a bad line, or when more were skipped than the user allows.
  const Batch* next();

  // For who reads in another way: the stream, after which next() must not be called; and what to tell of the bad lines
  // that it skipped, as SkippedLines::report().
  ExampleStream take_stream() { return std::move(stream_); }
  void report_skipped(std::uint64_t skipped, const std::vector<std::string>& warnings) {
    skipped_.report(skipped, warnings);
  }
  // As ExampleStream's.
  void on_input_idle(std::function<void()> call) { stream_.on_input_idle(std::move(call)); }

  // "FILE:LINE" of an example.
  std::string place_of(const ExampleView& x) const;

 private:
  std::vector<Shard> shards_;
  Model model_;
  ExampleStream stream_;
  SkippedLines skipped_;
  Batch batch_;
};

}  // namespace cpt
