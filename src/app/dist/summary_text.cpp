#include "app/dist/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "api/options/option_values.h"
#include "core/number_text.h"

namespace cpt {

namespace {

// With fewer, the interval is so wide that the estimate says little.
constexpr std::uint64_t kLeastTop1Samples = 100;
// With this part of the rows used, a feature often shares its row with others.
constexpr double kFillingUp = 0.7;

// "-" if there is no example.
std::string mean_text(double mean, bool any) { return any ? fmt::format("{:.4f}", mean) : "-"; }

// Figures measured on a sample of the examples; there may be none yet.
std::string sampled_figures(const Losses& losses) {
  std::string figures;
  if (losses.brier_samples > 0) figures += fmt::format(", Brier {:.4f}", losses.mean_brier_seen());
  if (losses.top1_samples >= kLeastTop1Samples)
    figures += fmt::format(", top-1 error {:.3f} +- {:.3f}", losses.mean_top1_error_seen(), losses.top1_interval());
  return figures;
}

// Empty if no example had a seen label.
std::string seen_figures(const Losses& losses) {
  if (losses.examples == losses.new_labels) return "";
  return fmt::format("; on seen labels: squared {:.4f}, log {:.4f}{}", losses.mean_squared_seen(),
                     losses.mean_log_seen(), sampled_figures(losses));
}

std::string losses_lines(const char* part, const Losses& losses, std::uint64_t bad_lines) {
  std::string lines = fmt::format("{}: {}, {} of them with a new label\n", part, counted(losses.examples, "example"),
                                  grouped(losses.new_labels));
  if (losses.weight > 0) {
    lines += fmt::format("  squared {:.4f} +- {:.4f}{}\n", losses.mean_squared(), losses.squared_interval(),
                         seen_figures(losses));
  }
  if (bad_lines > 0) lines += "  " + counted(bad_lines, "bad line") + " skipped\n";
  return lines;
}

std::string work_line(const Summary& summary) {
  if (summary.had_nothing_to_do) return "nothing to do: the run was finished, and there is no new shard\n";
  const std::uint64_t examples = summary.train.examples + summary.test.examples;
  const double seconds = std::max(summary.seconds, 1e-9);  // a clock may stand still
  const auto rate = static_cast<std::uint64_t>(static_cast<double>(examples) / seconds);
  return fmt::format("{} in {:.2f} s on {}, {} per second\n", counted(examples, "example"), summary.seconds,
                     counted(static_cast<std::uint64_t>(summary.ranks), "rank"), grouped(rate));
}

std::string validation_lines(const Summary& summary, const ValidationOptions& options) {
  if (!summary.last_validation) return "";
  std::string text = summary.stopped_early ? "stopped early\n" : "";
  const Validation& last = *summary.last_validation;
  if (last.without_improvement != 0 || !std::isfinite(last.value)) {
    text += validation_text(last, options.metric()) + "\n";
  }
  if (!summary.best_validation) return text;
  text += validation_text(*summary.best_validation, options.metric());
  return text + (options.keep_best ? ", and the model that is kept\n" : "\n");
}

std::string tree_line(const TreeFigures& tree) {
  if (tree.is_flat) return fmt::format("labels: {}; digest {}\n", grouped(tree.labels), digest_text(tree.digest));
  const std::string bound = tree.depth_bound > 0 ? fmt::format(" (bound {:.1f})", tree.depth_bound) : "";
  const std::string trees = tree.trees == 1 ? "tree:" : fmt::format("{} trees:", tree.trees);
  return fmt::format("{} {}, depth {:.1f} on average, {} at most{}; digest {}\n", trees, counted(tree.labels, "label"),
                     tree.depth_mean, tree.depth_max, bound, digest_text(tree.digest));
}

std::string memory_line(const Summary& summary) {
  const MemoryUse& memory = summary.memory;
  const std::string where = summary.ranks > 1 ? fmt::format(" on rank {}", memory.rank) : "";
  return fmt::format(
      "memory: {} at the peak{}, where the weight table has {} reserved, tree and labels {}, calibration {}\n",
      mebibytes(memory.peak_bytes), where, mebibytes(memory.table_bytes), mebibytes(memory.structure_bytes),
      mebibytes(memory.calibration_bytes));
}

std::uint64_t examples_per_second(const Stretch& stretch) {
  return static_cast<std::uint64_t>(static_cast<double>(stretch.losses.examples) / stretch.duration);
}

std::string ranks_lines(const Summary& summary) {
  std::string text =
      fmt::format("ranks: {}, {}, {:.1f} MB sent, {:.2f} s waited per rank\n", counted(summary.rounds, "round"),
                  counted(summary.sync_points, summary.partitioned ? "sync interval" : "merge"),
                  static_cast<double>(summary.bytes_sent) / 1e6, summary.communication_seconds);
  if (!summary.balance) return text;
  text +=
      fmt::format("  the busiest, rank {}, has {:.2f} times the mean load; {} partitions moved\n",
                  summary.balance->busiest_rank, summary.balance->busiest_over_mean, grouped(summary.partitions_moved));
  if (summary.readers < summary.ranks) {
    text +=
        fmt::format("  shards went to {} of {} ranks: owners of roots read none, because every example passes them\n",
                    summary.readers, summary.ranks);
  }
  if (summary.balance->limited_by_root) {
    text += "  the root is the limit: every example passes the rank that owns it, so more ranks would not be faster\n";
  }
  return text;
}

}  // namespace

std::string log_seen_text(const Losses& losses) { return mean_text(losses.mean_log_seen(), losses.seen_weight > 0); }

std::string grouped(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

std::string counted(std::uint64_t count, const char* of_one) {
  return grouped(count) + " " + of_one + (count == 1 ? "" : "s");
}

std::string mebibytes(std::uint64_t bytes) {
  const double mebibytes = static_cast<double>(bytes) * 0x1p-20;
  if (mebibytes < 10) return fmt::format("{:.1f} MiB", mebibytes);
  return grouped(static_cast<std::uint64_t>(std::llround(mebibytes))) + " MiB";
}

std::string balance_text(const Balance& balance, std::uint64_t interval) {
  std::string text = fmt::format(
      "sync interval {}: rank {} has {:.2f} times the mean load, {:.2f} after {} partitions move:", interval,
      balance.busiest_rank, balance.busiest_over_mean, balance.expected_over_mean, balance.moves.size());
  for (const Balance::Move& move : balance.moves) {
    text += fmt::format(" {} ({} to {})", move.partition, move.from, move.to);
  }
  return text;
}

std::string checkpoint_text(const CheckpointReport& report) {
  return fmt::format("checkpoint {} after {} examples: {:.1f} MB in {:.2f} s", report.directory.string(),
                     grouped(report.examples), static_cast<double>(report.bytes) / 1e6, report.seconds);
}

std::string validation_text(const Validation& validation, Metric metric) {
  const Losses& losses = validation.losses;
  const bool any = losses.weight > 0;
  std::string text =
      fmt::format("validation after {} examples: squared {}, log {}, log seen {}", grouped(validation.examples),
                  mean_text(losses.mean_squared(), any), mean_text(losses.mean_log(), any), log_seen_text(losses));
  text += sampled_figures(validation.losses);
  if (!std::isfinite(validation.value)) return text + "; no value of " + name_of(metric_names(), metric);
  if (validation.without_improvement == 0) return text + "; the best " + name_of(metric_names(), metric) + " so far";
  return text + fmt::format("; {} since the best {}", grouped(validation.without_improvement),
                            name_of(metric_names(), metric));
}

std::string stretch_text(const Stretch& stretch) {
  std::string text = stretch.phase == Phase::kTest ? "test" : fmt::format("pass {}", stretch.pass);
  if (stretch.validates) text = "validation";
  if (stretch.part_of_pass >= 0) text += fmt::format(" {:.0f} %", 100 * stretch.part_of_pass);
  text += fmt::format(": {} examples, {}/s", grouped(stretch.examples), grouped(examples_per_second(stretch)));
  if (stretch.seconds_left >= 0) text += ", " + clock_text(stretch.seconds_left) + " left";
  text += fmt::format(", {}; last {:.0f} s: ", mebibytes(stretch.peak_bytes), stretch.duration);
  if (stretch.losses.examples == 0) return text + "no examples";
  return text +
         fmt::format("squared {:.4f}, log seen {}", stretch.losses.mean_squared(), log_seen_text(stretch.losses));
}

std::string clock_text(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::string resumption_text(const Resumption& resumption) {
  std::string text = fmt::format("resumed from {}, written by {}", resumption.checkpoint.string(),
                                 counted(static_cast<std::uint64_t>(resumption.ranks), "rank"));
  if (resumption.finished) return text + " at the end of the run";
  text += " after " + std::to_string(resumption.examples) + " examples of ";
  return text + (resumption.phase == Phase::kTest ? "the test" : "training");
}

std::string summary_text(const Summary& summary, const ValidationOptions& validation,
                         const std::filesystem::path& model) {
  const std::uint64_t rows = summary.weight_bytes / 64;
  const std::string trees = summary.tree.trees == 1 ? "" : std::to_string(summary.tree.trees) + " x ";
  std::string text = work_line(summary);
  if (summary.trained) text += losses_lines("train", summary.train, summary.train_error_lines);
  text += validation_lines(summary, validation);
  if (summary.tested) text += losses_lines("test", summary.test, summary.test_error_lines);
  text += tree_line(summary.tree);
  const double used = static_cast<double>(summary.rows_used) / static_cast<double>(rows);
  text += fmt::format("weights: {:.1f} % of {}2^{} = {} rows used; digest {}\n", 100 * used, trees,
                      std::bit_width(rows / summary.tree.trees) - 1, grouped(rows), digest_text(summary.weight_digest));
  if (used > kFillingUp) text += "  filling up: features share rows; a new run with more --bits is more accurate\n";
  text += memory_line(summary);
  if (summary.ranks > 1) text += ranks_lines(summary);
  if (summary.checkpoints > 0) {
    text += fmt::format("checkpoints: {} written in {:.2f} s\n", summary.checkpoints, summary.checkpoint_seconds);
  }
  return model.empty() ? text : text + "model: " + model.string() + "\n";
}

}  // namespace cpt
