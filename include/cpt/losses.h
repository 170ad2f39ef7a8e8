// The progressive losses of a stream of examples: each is predicted, counted, then learned.
#pragma once

#include <cstdint>

namespace cpt {

// Sums, from which all means come. Where examples have importance weights, every mean is weighted by them.
struct Losses {
  std::uint64_t examples = 0;
  std::uint64_t new_labels = 0;     // examples whose label was not in the tree: P = 0
  std::uint64_t brier_samples = 0;  // seen examples whose Brier score was estimated
  std::uint64_t top1_samples = 0;   // seen examples whose best label was searched
  double weight = 0;                // sum of importances
  double weight_squares = 0;
  double squared = 0;      // sum of (1 - P)^2
  double log = 0;          // sum of -ln max(P, 1e-6)
  double seen_weight = 0;  // the same, over the examples whose label was in the tree
  double squared_seen = 0;
  double log_seen = 0;
  double brier_weight = 0;
  double brier = 0;  // sum of 1 - 2 P + P(y'), y' drawn from the prediction
  double top1_weight = 0;
  double top1_error = 0;

  void add_new(double importance);
  void add_seen(double importance, double p);
  // For a sample of the seen examples. `sample_weight`: its importance times the number of examples that it stands for,
  // in whatever unit. `drawn`: the probability of a label drawn from the prediction. `right`: the most probable label
  // was the example's.
  void add_brier(double sample_weight, double p, double drawn);
  void add_top1(double sample_weight, bool right);
  Losses& operator+=(const Losses& other);
  // What was added since `earlier`.
  Losses since(const Losses& earlier) const;

  // Means; 0 where nothing was counted.
  double mean_squared() const;
  double mean_log() const;
  double mean_squared_seen() const;
  double mean_log_seen() const;
  double mean_brier_seen() const;
  double mean_top1_error_seen() const;
  // Hoeffding's half-width of mean_squared at delta = 0.05: sqrt(ln(2 / delta) / (2 n)), n the effective number of
  // examples (sum h)^2 / sum h^2.
  double squared_interval() const;
  // 1 / (1 - sqrt(loss)): the number of labels whose uniform distribution has the mean squared loss. Infinite at
  // loss 1.
  double equivalent() const;
};

// P below this is counted as this in the log loss.
inline constexpr double kLogFloor = 1e-6;

}  // namespace cpt
