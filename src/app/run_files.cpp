#include "app/run_files.h"

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "core/version.h"
#include "cpt/error.h"

namespace cpt {

namespace {

using Json = nlohmann::ordered_json;

std::string hex(std::uint64_t value) {
  std::array<char, 17> text{};
  std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(value));
  return text.data();
}

Json losses_json(const Losses& losses) {
  return {{"examples", losses.examples},
          {"new_labels", losses.new_labels},
          {"squared", losses.mean_squared()},
          {"squared_ci", losses.squared_interval()},
          {"squared_seen", losses.mean_squared_seen()},
          {"log", losses.mean_log()},
          {"log_seen", losses.mean_log_seen()},
          {"brier_seen", losses.mean_brier_seen()},
          {"equivalent", losses.equivalent()},
          {"top1_error_seen", losses.mean_top1_error_seen()}};
}

Json tree_json(const TreeFigures& tree) {
  Json json{{"labels", tree.labels},           {"depth_max", tree.depth_max},         {"depth_mean", tree.depth_mean},
            {"depth_bound", tree.depth_bound}, {"disagreements", tree.disagreements}, {"digest", hex(tree.digest)}};
  if (tree.depth_bound == 0) json["depth_bound"] = nullptr;
  return json;
}

}  // namespace

std::string summary_json(const DistOptions& options, const Summary& summary) {
  const double examples = static_cast<double>(summary.train.examples + summary.test.examples);
  const double lines = static_cast<double>(summary.weight_bytes) / sizeof(float) / 16;
  Json chosen = Json::object();
  for (const auto& [name, value] : describe_options(options)) chosen[name] = value;

  Json json;
  json["version"] = std::string(kVersion) + " " + kCommit;
  json["ranks"] = summary.ranks;
  json["options"] = chosen;
  json["seconds"] = summary.seconds;
  json["examples_per_second"] = summary.seconds > 0 ? examples / summary.seconds : 0;
  json["train"] = losses_json(summary.train);
  json["train"]["error_lines"] = summary.train_error_lines;
  if (summary.tested) {
    json["test"] = losses_json(summary.test);
    json["test"]["error_lines"] = summary.test_error_lines;
  }
  json["tree"] = tree_json(summary.tree);
  json["weights"] = {{"bits", options.training.model.bits},
                     {"lines_used", static_cast<double>(summary.lines_used) / lines},
                     {"bytes", summary.weight_bytes},
                     {"digest", hex(summary.weight_digest)}};
  json["epochs"] = summary.epochs;
  json["rounds"] = summary.rounds;
  json["communication"] = {{"bytes_sent", summary.bytes_sent}, {"seconds", summary.communication_seconds}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string metrics_line(const Report& report) {
  Json json;
  json["phase"] = report.phase == Phase::kTrain ? "train" : "test";
  json["pass"] = report.pass;
  json["examples"] = report.so_far.examples;
  json["seconds"] = report.seconds;
  json["so_far"] = losses_json(report.so_far);
  json["since_last"] = losses_json(report.since_last);
  json["labels"] = report.labels;
  json["depth_max"] = report.depth_max;
  json["rounds"] = report.rounds;
  json["epochs"] = report.epochs;
  json["communication"] = {{"bytes_sent", report.bytes_sent}, {"seconds", report.communication_seconds}};
  return json.dump();
}

LineFile::LineFile(std::filesystem::path path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "w")) {
  if (!file_) throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("open", errno));
}

void LineFile::write(const std::string& line) {
  const std::string whole = line + "\n";
  if (std::fwrite(whole.data(), 1, whole.size(), file_.get()) == whole.size() && std::fflush(file_.get()) == 0) return;
  throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("write", errno));
}

}  // namespace cpt
