#include "app/dist/run_files.h"

#include <fmt/chrono.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "api/options/option_values.h"
#include "app/shared/figures_json.h"
#include "core/version.h"
#include "cpt/error.h"
#include "store/fs/durable_file.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// null if the figure is a mean over nothing.
Json mean(double figure, bool any) { return any ? Json(figure) : Json(nullptr); }

// null for a negative figure, which is not known.
Json known(double figure) { return figure >= 0 ? Json(figure) : Json(nullptr); }

const char* name_of_phase(Phase phase) { return phase == Phase::kTrain ? "train" : "test"; }

Json losses_json(const Losses& losses) {
  const bool any = losses.weight > 0;
  const bool any_seen = losses.seen_weight > 0;
  const bool any_brier = losses.brier_samples > 0;
  const bool any_top1 = losses.top1_samples > 0;
  return {{"examples", losses.examples},
          {"new_labels", losses.new_labels},
          {"squared", mean(losses.mean_squared(), any)},
          {"squared_ci", mean(losses.squared_interval(), any)},
          {"squared_seen", mean(losses.mean_squared_seen(), any_seen)},
          {"log", mean(losses.mean_log(), any)},
          {"log_seen", mean(losses.mean_log_seen(), any_seen)},
          {"brier_seen", mean(losses.mean_brier_seen(), any_brier)},
          {"equivalent", mean(losses.equivalent(), any)},
          {"top1_error_seen", mean(losses.mean_top1_error_seen(), any_top1)},
          {"top1_error_ci", mean(losses.top1_interval(), any_top1)}};
}

Json validation_json(const Validation& validation) {
  return {{"phase", "validation"},
          {"pass", validation.pass},
          {"examples", validation.examples},
          {"seconds", validation.run_seconds},
          {"took", validation.seconds},
          {"losses", losses_json(validation.losses)},
          {"value", std::isfinite(validation.value) ? Json(validation.value) : Json(nullptr)},
          {"without_improvement", validation.without_improvement}};
}

Json summary_validations(const Summary& summary, Metric metric) {
  Json json{{"count", summary.validations}, {"metric", name_of(metric_names(), metric)}};
  json["best"] = summary.best_validation ? validation_json(*summary.best_validation) : Json(nullptr);
  json["last"] = validation_json(*summary.last_validation);
  json["stopped_early"] = summary.stopped_early;
  return json;
}

Json communication_json(std::uint64_t bytes, double seconds, const TrafficByCall& traffic) {
  Json by_call = Json::object();
  for (const auto& [call, part] : traffic) {
    by_call[call] = {{"waits", part.waits}, {"bytes", part.bytes}, {"seconds", part.seconds}};
  }
  return {{"bytes_sent", bytes}, {"seconds", seconds}, {"by_call", by_call}};
}

// The name of the checkpoint that a line of metrics.jsonl reports. The run directory may have been renamed since, so
// the rest of the path is ignored.
std::string name_of_checkpoint(const Json& line) { return fs::path(line.value("directory", "")).filename().string(); }

// Whether the line reports the checkpoint of the resumption.
bool reports_checkpoint(const std::string& line, const Resumption& resumption) {
  const Json json = Json::parse(line, nullptr, false);
  return json.is_object() && json.value("phase", "") == "checkpoint" &&
         name_of_checkpoint(json) == resumption.checkpoint.filename();
}

// Whether a line of metrics.jsonl reports something that happened after the checkpoint.
bool is_beyond(const std::string& line, const Resumption& resumption) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("phase")) return true;  // incomplete: the run ended while writing it
  const std::string phase = json.value("of", json.value("phase", ""));
  if (phase == "balance") return json.value("interval", std::uint64_t{0}) > resumption.sync_points;
  if (phase == "checkpoint") return name_of_checkpoint(json) > resumption.checkpoint.filename().string();
  if (phase == "validation" && json.contains("of")) return true;  // its examples are not those of the pass
  const Phase of_line = phase == "test" ? Phase::kTest : Phase::kTrain;
  if (of_line != resumption.phase) return of_line == Phase::kTest;
  return json.value("examples", std::uint64_t{0}) > resumption.examples;
}

std::string now_in_utc() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

// Of metrics.jsonl.
std::string line_of(Json json) {
  json["time"] = now_in_utc();
  return json_text(json, -1);
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

std::string summary_json(const DistOptions& options, const Summary& summary) {
  const double examples = static_cast<double>(summary.train.examples + summary.test.examples);
  Json chosen = Json::object();
  for (const auto& [name, value] : describe_options(options)) chosen[name] = value;

  Json json;
  json["version"] = std::string(kVersion) + " " + kCommit;
  json["ranks"] = summary.ranks;
  json["options"] = chosen;
  json["finished"] = now_in_utc();
  json["seconds"] = summary.seconds;
  json["examples_per_second"] = summary.seconds > 0 ? examples / summary.seconds : 0;
  json["train"] = losses_json(summary.train);
  json["train"]["error_lines"] = summary.train_error_lines;
  if (summary.tested) {
    json["test"] = losses_json(summary.test);
    json["test"]["error_lines"] = summary.test_error_lines;
  }
  if (summary.last_validation) {
    json["validation"] = summary_validations(summary, options.training.validation.metric());
  }
  json["tree"] = tree_json(summary.tree);
  json["weights"] = weights_json(options.training.model.table_bits(), options.training.model.trees, summary.rows_used,
                                 summary.weight_digest);
  json["sync_points"] = summary.sync_points;
  json["rounds"] = summary.rounds;
  json["communication"] = communication_json(summary.bytes_sent, summary.communication_seconds, summary.traffic);
  json["memory"] = {{"rank", summary.memory.rank},
                    {"peak_bytes", summary.memory.peak_bytes},
                    {"table_bytes", summary.memory.table_bytes},
                    {"tree_and_labels_bytes", summary.memory.structure_bytes},
                    {"calibration_bytes", summary.memory.calibration_bytes}};
  json["checkpoints"] = {{"written", summary.checkpoints}, {"seconds", summary.checkpoint_seconds}};
  if (summary.balance) {
    json["balance"] = {{"readers", summary.readers},
                       {"partitions_moved", summary.partitions_moved},
                       {"busiest_rank", summary.balance->busiest_rank},
                       {"busiest_over_mean", summary.balance->busiest_over_mean},
                       {"limited_by_root", summary.balance->limited_by_root}};
  }
  return json_text(json, 2) + "\n";
}

std::string metrics_line(const Validation& validation) { return line_of(validation_json(validation)); }

std::string metrics_line(const Report& report) {
  const Json json{
      {"phase", name_of_phase(report.phase)},
      {"pass", report.pass},
      {"examples", report.so_far.examples},
      {"seconds", report.seconds},
      {"so_far", losses_json(report.so_far)},
      {"since_last", losses_json(report.since_last)},
      {"labels", report.labels},
      {"depth_max", report.depth_max},
      {"rounds", report.rounds},
      {"sync_points", report.sync_points},
      {"communication", communication_json(report.bytes_sent, report.communication_seconds, report.traffic)}};
  return line_of(json);
}

std::string metrics_line(const Stretch& stretch) {
  Json json{{"phase", "progress"},
            {"of", stretch.validates ? "validation" : name_of_phase(stretch.phase)},
            {"pass", stretch.pass},
            {"examples", stretch.examples},
            {"seconds", stretch.seconds},
            {"part_of_pass", known(stretch.part_of_pass)},
            {"seconds_left", known(stretch.seconds_left)},
            {"examples_per_second", static_cast<double>(stretch.losses.examples) / stretch.duration},
            {"peak_bytes", stretch.peak_bytes}};
  json["since_last"] = losses_json(stretch.losses);
  return line_of(json);
}

std::string metrics_line(const Balance& balance, std::uint64_t interval) {
  Json json;
  json["phase"] = "balance";
  json["interval"] = interval;
  json["busiest_rank"] = balance.busiest_rank;
  json["busiest_over_mean"] = balance.busiest_over_mean;
  json["expected_over_mean"] = balance.expected_over_mean;
  json["moves"] = Json::array();
  for (const Balance::Move& move : balance.moves) {
    json["moves"].push_back({{"partition", move.partition}, {"from", move.from}, {"to", move.to}});
  }
  return line_of(json);
}

std::string metrics_line(const CheckpointReport& report) {
  const Json json{{"phase", "checkpoint"},       {"directory", report.directory.string()},
                  {"examples", report.examples}, {"seconds", report.run_seconds},
                  {"took", report.seconds},      {"bytes", report.bytes}};
  return line_of(json);
}

void cut_metrics(const fs::path& metrics, const Resumption& resumption) {
  std::vector<std::string> lines = lines_of(metrics);
  const auto last_kept = std::find_if(lines.rbegin(), lines.rend(),
                                      [&](const std::string& line) { return reports_checkpoint(line, resumption); });
  if (last_kept != lines.rend()) {
    lines.erase(last_kept.base(), lines.end());
  } else if (!resumption.finished) {  // the run was killed before it could report the checkpoint
    while (!lines.empty() && is_beyond(lines.back(), resumption)) lines.pop_back();
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  write_file_atomically(metrics, std::as_bytes(std::span(text)));
}

LineFile::LineFile(std::filesystem::path path, bool append)
    : path_(std::move(path)), file_(std::fopen(path_.c_str(), append ? "a" : "w")) {
  if (!file_) throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("open", errno));
}

void LineFile::write(const std::string& line) {
  const std::string whole = line + "\n";
  if (std::fwrite(whole.data(), 1, whole.size(), file_.get()) == whole.size() && std::fflush(file_.get()) == 0) return;
  throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("write", errno));
}

}  // namespace cpt
