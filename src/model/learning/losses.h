// Counting the losses of predictions, before each example is learned, and the lowest loss possible on given examples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "cpt/example.h"
#include "cpt/losses.h"
#include "model/learning/learner.h"

namespace cpt {

// Whether example `number` of a phase, counted from 1, is sampled if its label was in the tree: a label is drawn for
// its Brier score, and its best label is searched. One example of each interval, which has 64 examples up to 2^20;
// later there are 2^13 intervals between a power of two and the next. The example of an interval is chosen at random,
// but the same one in every run. Hybrid and replicated ranks number their own examples. An example whose label came
// with another example of the same round has no number there and is not sampled.
bool is_sampled(std::uint64_t number);
// The weight of a sampled example: its importance times the length of the interval.
double sample_weight(double importance, std::uint64_t number);
// Best labels are not searched in several trees: a rank that owns a part of one tree does not know a label's
// probability in the others.
bool searches_best(const ModelOptions& options);
// A best label less probable than this counts as none, and its example as an error: searches would open hundreds of
// blocks, in many partitions, to find it.
inline constexpr double kLeastTop1 = 0.01;
// The generator of the draws for the Brier score.
std::uint64_t brier_seed(const ModelOptions& options, std::uint64_t number);

// Counts one example whose label was in the tree: p = P(its label | x) before it is learned. Its number is
// losses.examples after it is counted.
void count_seen(const Learner& learner, const ExampleView& x, LabelId label, double p, Losses& losses);

// The paper's "best possible": the mean squared loss of a predictor that knows the frequencies of the very examples
// that are scored. Its memory grows with the number of distinct (x, label). Not thread-safe.
class BestPossible {
 public:
  void add(const ExampleView& x);
  // The mean over all examples of (1 - n(x, label) / n(x))^2, where n counts the added examples with this x, and with
  // this x and label. The mean and the counts are weighted by importance. 0 if there are no examples. No method can
  // promise a loss as low, because this one knows labels before they come.
  double mean_squared() const;

 private:
  struct Pair {
    std::uint64_t key;
    std::uint64_t label_hash;
    bool operator==(const Pair&) const = default;
  };
  struct HashOfPair {
    std::size_t operator()(const Pair& pair) const;
  };

  std::unordered_map<Pair, double, HashOfPair> pairs_;
  std::unordered_map<std::uint64_t, double> keys_;
};

}  // namespace cpt
