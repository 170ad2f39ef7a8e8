#include "app/dist/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "api/options/option_values.h"
#include "app/dist/summary_text.h"
#include "train/host/host.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostRanks = 8;  // that get a line of their own

// Rounds an estimate to two digits: more would claim a precision that it does not have.
std::uint64_t rounded(std::uint64_t count) {
  if (count < 100) return count;
  const double unit = std::pow(10, std::floor(std::log10(static_cast<double>(count))) - 1);
  return static_cast<std::uint64_t>(std::llround(static_cast<double>(count) / unit) * std::llround(unit));
}

std::string ranks_text(const InputPlan& input) {
  const std::size_t ranks = input.readers.size();
  if (ranks == 1) return "";
  std::string text;
  std::vector<std::uint64_t> shards;
  std::vector<std::uint64_t> bytes;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (!input.readers[rank]) {
      text += fmt::format("  rank {}: none, because all examples pass the root that it owns\n", rank);
      continue;
    }
    shards.push_back(input.shards_of_rank[rank]);
    bytes.push_back(input.bytes_of_rank[rank]);
    if (ranks > kMostRanks) continue;
    text += fmt::format("  rank {}: {}, {}\n", rank, counted(shards.back(), "shard"), mebibytes(bytes.back()));
  }
  if (ranks <= kMostRanks) return text;
  const auto of_shards = std::ranges::minmax(shards);
  const auto of_bytes = std::ranges::minmax(bytes);
  return text + fmt::format("  each {}rank: {} to {}, {} to {}\n", shards.size() < ranks ? "other " : "",
                            grouped(of_shards.min), counted(of_shards.max, "shard"), mebibytes(of_bytes.min),
                            mebibytes(of_bytes.max));
}

std::string input_text(const char* name, const InputPlan& input) {
  const auto sum = [](const std::vector<std::uint64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  };
  const std::uint64_t shards = sum(input.shards_of_rank);
  if (shards == 0) return "";
  const std::string examples = input.examples_known ? "about " + counted(rounded(input.examples), "example")
                                                    : "an unknown number of examples in a pipe";
  return fmt::format("{}: {}, {}, {}\n", name, counted(shards, "shard"), mebibytes(sum(input.bytes_of_rank)),
                     examples) +
         ranks_text(input);
}

std::string first_text(const RunPlan& plan) {
  if (plan.first_path.empty()) return "";
  if (!plan.first) return "format: unknown, because a pipe cannot be read twice\n";
  const ShardPreview& first = *plan.first;
  if (first.line == 0) return "format: unknown, because " + plan.first_path + " has no example\n";
  std::string text =
      fmt::format("format: {}\nfirst line: {}:{}", name_of(format_names(), first.format), plan.first_path, first.line);
  if (!first.text.empty()) text += " " + first.text;
  text += fmt::format("\n  label {}, importance {:.6g}, {}", first.label, first.importance,
                      counted(first.features, "feature"));
  for (std::size_t i = 0; i < first.shown.size(); ++i) text += (i == 0 ? ": " : " ") + first.shown[i];
  return text + (first.shown.size() < first.features ? " ...\n" : "\n");
}

std::string weights_text(const RunPlan& plan) {
  const ModelOptions& model = plan.options.model;
  const std::string trees = model.trees == 1 ? "" : fmt::format("{} x ", model.trees);
  const std::string free = plan.free_bytes ? ", of " + mebibytes(*plan.free_bytes) + " that are free" : "";
  return fmt::format("weights: {}2^{} rows\nmemory: up to {} a rank for weights, {} for calibration{}\n", trees,
                     model.table_bits(), mebibytes(plan.table_bytes), mebibytes(plan.calibration_bytes), free);
}

std::string free_disk_text(const fs::path& run) {
  const auto free = free_disk(run);
  return free ? fmt::format(", of {} that are free in {}", mebibytes(free->bytes), free->directory.string()) : "";
}

std::string checkpoints_text(const RunPlan& plan, const fs::path& run) {
  if (plan.checkpoint_bytes == 0) return "disk: no checkpoints\n";
  const std::uint64_t most = plan.options.checkpoints.keep + 1;  // a new one is complete before an old one goes
  return fmt::format("disk: up to {} a checkpoint, {} of them at a time{}\n", mebibytes(plan.checkpoint_bytes), most,
                     free_disk_text(run));
}

}  // namespace

std::string plan_text(const RunPlan& plan, const fs::path& run) {
  return "dry run: nothing is trained, and nothing written\n" + input_text("data", plan.train) +
         input_text("test", plan.test) + first_text(plan) + weights_text(plan) + checkpoints_text(plan, run);
}

}  // namespace cpt
