#include "app/dist/resumed_run.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "api/checkpoint/checkpoint_reader.h"
#include "cpt/error.h"
#include "store/fs/durable_file.h"
#include "store/run/checkpoints.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

bool may_change(const std::string& name, const TrainingOptions& then) {
  constexpr std::array<const char*, 7> kFree = {"data", "test", "on-error", "passes", "run", "checkpoint-every",
                                                "keep"};
  return std::ranges::find(kFree, name) != kFree.end() ||
         (name == "round-examples" && then.placement == Placement::kPartitioned);
}

// C4.
void refuse_other_values(const DistOptions& now, const TrainingOptions& then) {
  DistOptions before = now;
  before.training = then;
  const OptionValues chosen = describe_options(now);
  const OptionValues expected = describe_options(before);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    const auto& [name, value] = chosen[i];
    if (!now.is_given(name) || value == expected[i].second || may_change(name, then)) continue;
    throw Error(Fault::kUsage, "--" + name + " is " + shown(value) + ", but the run in " + now.run.string() +
                                   " was begun with " + shown(expected[i].second) +
                                   ": leave the option out, or begin another run with --run");
  }
}

// Of a checkpoint, in a line of metrics.jsonl. The rest of its path is what the run directory was called at that time.
std::string name_of_checkpoint(const Json& line) { return fs::path(line.value("directory", "")).filename().string(); }

// Whether it is the line that was written right after the checkpoint.
bool tells_of_checkpoint(const std::string& line, const Resumption& resumption) {
  const Json json = Json::parse(line, nullptr, false);
  return json.is_object() && json.value("phase", "") == "checkpoint" &&
         name_of_checkpoint(json) == resumption.checkpoint.filename();
}

// Whether a line of metrics.jsonl tells of something that the checkpoint does not know.
bool is_beyond(const std::string& line, const Resumption& resumption) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("phase")) return true;  // torn by what ended the run
  const std::string phase = json.value("phase", "");
  if (phase == "balance") return json.value("interval", std::uint64_t{0}) > resumption.sync_points;
  if (phase == "checkpoint") return name_of_checkpoint(json) > resumption.checkpoint.filename().string();
  const Phase of_line = phase == "test" ? Phase::kTest : Phase::kTrain;
  if (of_line != resumption.phase) return of_line == Phase::kTest;
  return json.value("examples", std::uint64_t{0}) > resumption.examples;
}

std::vector<std::string> lines_of(const fs::path& file) {
  std::vector<std::string> lines;
  if (!fs::exists(file)) return lines;
  const std::vector<std::byte> bytes = read_file(file);
  std::istringstream text(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

}  // namespace

bool take_run_options(DistOptions& options) {
  std::vector<Checkpoint> checkpoints = Checkpoints(options.run / "checkpoints").list();
  std::ranges::reverse(checkpoints);
  for (const Checkpoint& checkpoint : checkpoints) {
    try {
      const TrainingOptions then = read_run_state(checkpoint.directory).options;
      refuse_other_values(options, then);
      options.training.model = then.model;
      options.training.auto_bits = false;
      options.training.given_tree = then.given_tree;
      if (!options.is_given("passes")) options.training.passes = then.passes;
      if (!options.is_given("on-error")) {
        options.training.skip_bad_lines = then.skip_bad_lines;
        options.training.most_bad_lines = then.most_bad_lines;
      }
      if (!options.is_given("round-examples")) options.training.round_examples = then.round_examples;
      return true;
    } catch (const Error& error) {
      if (error.fault() == Fault::kUsage) throw;  // others are for the one who takes the checkpoint up
    }
  }
  return !checkpoints.empty();
}

void cut_metrics(const fs::path& metrics, const Resumption& resumption) {
  std::vector<std::string> lines = lines_of(metrics);
  const auto last_kept = std::find_if(lines.rbegin(), lines.rend(),
                                      [&](const std::string& line) { return tells_of_checkpoint(line, resumption); });
  if (last_kept != lines.rend()) {
    lines.erase(last_kept.base(), lines.end());
  } else if (!resumption.finished) {  // the run was killed before it could tell of the checkpoint
    while (!lines.empty() && is_beyond(lines.back(), resumption)) lines.pop_back();
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  write_file_atomically(metrics, std::as_bytes(std::span(text)));
}

std::string resumption_text(const Resumption& resumption) {
  std::string text = "resumed from " + resumption.checkpoint.string() + ", written by " +
                     std::to_string(resumption.ranks) + (resumption.ranks == 1 ? " rank" : " ranks");
  if (resumption.finished) return text + " at the end of the run";
  text += " after " + std::to_string(resumption.examples) + " examples of ";
  return text + (resumption.phase == Phase::kTest ? "the test" : "training");
}

}  // namespace cpt
