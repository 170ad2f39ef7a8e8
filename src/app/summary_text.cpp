#include "app/summary_text.h"

#include <cstdio>

namespace cpt {

namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  const int length = std::snprintf(nullptr, 0, pattern, values...);
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  std::snprintf(text.data(), text.size(), pattern, values...);
  text.pop_back();
  return text;
}

// 1234567 as 1,234,567.
std::string grouped(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string losses_line(const char* part, const Losses& losses, std::uint64_t error_lines) {
  std::string line = std::string(part) + ": " + grouped(losses.examples) + " examples, " + grouped(losses.new_labels) +
                     " of them with a new label; squared " +
                     format("%.4f +- %.4f, on seen labels %.4f; log on seen labels %.4f, Brier %.4f, top-1 error %.4f",
                            losses.mean_squared(), losses.squared_interval(), losses.mean_squared_seen(),
                            losses.mean_log_seen(), losses.mean_brier_seen(), losses.mean_top1_error_seen());
  if (error_lines > 0) line += "; " + grouped(error_lines) + " bad lines skipped";
  return line + "\n";
}

}  // namespace

std::string summary_text(const Summary& summary, const std::filesystem::path& model) {
  const std::uint64_t examples = summary.train.examples + summary.test.examples;
  std::string text = grouped(examples) + " examples in " + format("%.2f s", summary.seconds) + " on " +
                     std::to_string(summary.ranks) + (summary.ranks == 1 ? " rank, " : " ranks, ") +
                     grouped(static_cast<std::uint64_t>(static_cast<double>(examples) / summary.seconds)) + " a second\n";
  text += losses_line("train", summary.train, summary.train_error_lines);
  if (summary.tested) text += losses_line("test", summary.test, summary.test_error_lines);
  text += "tree: " + grouped(summary.tree.labels) + " labels, depth " +
          format("%.1f on average, at most %u", summary.tree.depth_mean, summary.tree.depth_max);
  if (summary.tree.depth_bound > 0) text += format(" (bound %.1f)", summary.tree.depth_bound);
  text += format("; digest %016llx\n", static_cast<unsigned long long>(summary.tree.digest));
  const double lines = static_cast<double>(summary.weight_bytes) / 64;
  text += "weights: " + format("%.1f %% of %s lines used; digest %016llx\n",
                               100 * static_cast<double>(summary.lines_used) / lines,
                               grouped(static_cast<std::uint64_t>(lines)).c_str(),
                               static_cast<unsigned long long>(summary.weight_digest));
  if (summary.ranks > 1) {
    text += "ranks: " + grouped(summary.rounds) + " rounds, " + grouped(summary.epochs) + " merges, " +
            format("%.1f MB sent, %.2f s waited per rank\n", static_cast<double>(summary.bytes_sent) / 1e6,
                   summary.communication_seconds);
  }
  return text + "model: " + model.string() + "\n";
}

}  // namespace cpt
