#include "train/progress/validations.h"

#include <cmath>
#include <limits>

namespace cpt {

namespace {

// A mean is 0 if nothing was counted, which must not pass for a loss of 0.
double counted(double mean, bool any) { return any ? mean : std::numeric_limits<double>::quiet_NaN(); }

bool any(const ExactSum& weight) { return static_cast<double>(weight) > 0; }

}  // namespace

double value_of(Metric metric, const Losses& losses) {
  switch (metric) {
    case Metric::kLog:
      return counted(losses.mean_log(), any(losses.weight));
    case Metric::kLogSeen:
      return counted(losses.mean_log_seen(), any(losses.seen_weight));
    case Metric::kSquared:
      return counted(losses.mean_squared(), any(losses.weight));
    case Metric::kSquaredSeen:
      return counted(losses.mean_squared_seen(), any(losses.seen_weight));
    case Metric::kBrierSeen:
      return counted(losses.mean_brier_seen(), any(losses.brier_weight));
    case Metric::kTop1ErrorSeen:
      return counted(losses.mean_top1_error_seen(), any(losses.top1_weight));
  }
  return counted(0, false);
}

bool enter_validation(Validation validation, Summary& summary) {
  const auto& best = summary.best_validation;
  const bool is_best = std::isfinite(validation.value) && (!best || validation.value < best->value);
  const std::uint64_t before = summary.last_validation ? summary.last_validation->without_improvement : 0;
  // Without a value, a validation is neither better nor worse.
  const std::uint64_t worse = std::isfinite(validation.value) ? 1 : 0;
  validation.without_improvement = is_best ? 0 : before + worse;
  ++summary.validations;
  if (is_best) summary.best_validation = validation;
  summary.last_validation = validation;
  return is_best;
}

std::string warning_of_other_examples(Metric metric, const Summary& summary) {
  const bool leaves_out = metric != Metric::kLog && metric != Metric::kSquared;
  if (!leaves_out || !summary.last_validation || !summary.best_validation) return "";
  const std::uint64_t now = summary.last_validation->losses.new_labels;
  const std::uint64_t then = summary.best_validation->losses.new_labels;
  if (now == then) return "";
  return "validations are compared by different examples: the last one leaves out " + std::to_string(now) +
         " whose labels are new, the best one " + std::to_string(then) +
         "; while labels still arrive, compare by log or squared, which leave out none";
}

bool is_to_stop_early(const ValidationOptions& options, const Summary& summary) {
  return options.early_stop != 0 && summary.last_validation &&
         summary.last_validation->without_improvement >= options.early_stop;
}

}  // namespace cpt
