// The progressive losses of a stream of examples: each example is predicted and counted before it is learned.
#pragma once

#include <cstdint>

#include "cpt/exact_sum.h"

namespace cpt {

// The sums that all mean losses are computed from. They do not depend on the order of the examples, or on how the
// examples are divided over several Losses that are added up. h is the importance of an example, in [0, 1e12], and p
// the probability in [0, 1] that the model gave the example's label. "Seen" figures cover only examples whose label was
// in the tree.
struct Losses {
  std::uint64_t examples = 0;
  std::uint64_t new_labels = 0;     // examples whose label was not in the tree, counted as p = 0
  std::uint64_t brier_samples = 0;  // seen examples that other_squares was estimated on
  std::uint64_t top1_samples = 0;   // seen examples whose most probable label was searched
  ExactSum weight;                  // sum of h
  ExactSum weight_squares;          // sum of h^2
  ExactSum squared;                 // sum of h (1 - p)^2
  ExactSum log;                     // sum of -h ln max(p, kLogFloor)
  ExactSum seen_weight;             // as weight, squared and log, over seen examples
  ExactSum squared_seen;
  ExactSum log_seen;
  // Over samples, s = sample_weight; see add_other_squares() and add_top1().
  ExactSum brier_weight;         // sum of s
  ExactSum other_squares;        // sum of s * squares
  ExactSum top1_weight;          // sum of s
  ExactSum top1_weight_squares;  // sum of (s / kSampleUnit)^2
  ExactSum top1_error;           // sum of s where the most probable label was not the example's

  // Counts an example with a new label, or one with a seen label.
  void add_new(double importance);
  void add_seen(double importance, double p);
  // Counts a sampled seen example. `sample_weight` is its importance times the number of examples that it stands for,
  // in any unit. `squares` is an estimate of the sum of P(label)^2 over all labels but the example's, such as the
  // probability of a label drawn from the prediction, or 0 if the example's was drawn. `right` says whether the most
  // probable label was the example's.
  void add_other_squares(double sample_weight, double squares);
  void add_top1(double sample_weight, bool right);
  Losses& operator+=(const Losses& other);
  // The losses that were added since `earlier`, a previous state of this object.
  Losses since(const Losses& earlier) const;

  // Means; 0 if nothing was counted.
  double mean_squared() const;
  double mean_log() const;
  double mean_squared_seen() const;
  double mean_log_seen() const;
  // mean_squared_seen(), which needs no sample, plus the mean of other_squares; 0 without samples.
  double mean_brier_seen() const;
  // In runs, an example whose most probable label has P < 0.01 counts as an error.
  double mean_top1_error_seen() const;
  // Half the width of Wilson's 95 % interval of mean_top1_error_seen().
  double top1_interval() const;
  // Half the width of Hoeffding's 95 % interval of mean_squared(): sqrt(ln(2 / 0.05) / (2 n)), where n is the effective
  // number of examples, weight^2 / weight_squares.
  double squared_interval() const;
  // The number of equally likely labels that are as hard to predict: 1 / (1 - sqrt(mean_squared())). Infinite at
  // loss 1.
  double equivalent() const;
};

// Squares of weights in this unit fit an ExactSum, whatever the importance.
inline constexpr double kSampleUnit = 0x1p22;

// The log loss counts a smaller p as this.
inline constexpr double kLogFloor = 1e-6;

}  // namespace cpt
