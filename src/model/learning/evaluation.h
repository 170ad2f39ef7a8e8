// The figures of a model that does not learn meanwhile, on examples whose labels are known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cpt/example.h"
#include "model/learning/learner.h"

namespace cpt {

// The prediction of the model for one example, judged by its label.
struct Judgement {
  LabelId label = kNoLabel;  // the example's own; kNoLabel if it is new
  double p = 0;              // P(label | x)
  std::size_t rank = 0;      // of the label among the most probable ones, from 1; 0 if it is not one of them
  LabelId best = kNoLabel;   // the most probable label, and its probability
  double best_p = 0;
  double squares = 0;  // an unbiased estimate of the sum over all labels of P(label)^2
};

// Judges examples one by one; reuses its buffers. Several may share a learner.
class Judge {
 public:
  // `depth`: how many of the most probable labels are searched. Their part of Judgement::squares is exact; the rest is
  // estimated by the probability of a label that is drawn.
  Judge(const Learner& learner, std::size_t depth) : learner_(&learner), depth_(depth) {}

  // Depends on the model and on x only.
  Judgement operator()(const ExampleView& x);

 private:
  double probability(const ExampleView& x, LabelId label);
  double squares(const ExampleView& x, const std::vector<Ranked>& best);

  const Learner* learner_;
  std::size_t depth_;
  PathState path_state_;
};

// A weighted mean with its 95 % interval.
class WeightedMean {
 public:
  void add(double weight, double value);
  bool is_empty() const { return weight_ == 0; }
  // 0 if it is empty.
  double mean() const;
  // 1.96 standard errors.
  double interval() const;

 private:
  double weight_ = 0;
  double sum_ = 0;
  double weight_squares_ = 0;  // sums of weight^2, times 1, value and value^2
  double square_sum_ = 0;
  double square_squares_ = 0;
};

// How well the k most probable labels match the labels of a line. A line has one label, unless each of its labels
// became an example.
struct RankFigures {
  std::size_t k = 0;
  WeightedMean precision;  // labels of the line among the k, divided by k
  WeightedMean recall;     // ... by the number of the line's labels
  WeightedMean ndcg;       // discounted by 1 / log2(1 + rank), divided by the largest value possible
};

struct EvaluatedPart {
  std::uint64_t examples = 0;
  WeightedMean log;      // -ln max(p, kLogFloor)
  WeightedMean brier;    // 1 - 2 p + the sum over all labels of P(label)^2
  WeightedMean squared;  // (1 - p)^2
  std::vector<RankFigures> ranks;
};

// The examples whose best label has a probability in one of ten equal ranges.
struct CalibrationBin {
  std::uint64_t examples = 0;
  double weight = 0;
  double predicted = 0;  // sum of weight * probability
  double right = 0;      // weight of those whose own label was the best
};

struct LabelFigures {
  bool is_new = false;
  std::uint64_t examples = 0;
  double weight = 0;     // of these examples
  double right = 0;      // ... for which the label was the best
  double log = 0;        // sum of weight * -ln max(p, kLogFloor)
  double predicted = 0;  // weight of all examples for which it was the best

  LabelFigures& operator+=(const LabelFigures& other);
};

// Labels that are about equally frequent among the evaluated examples.
struct FrequencyClass {
  std::uint64_t least = 1;  // examples of a label
  std::uint64_t most = 9;
  std::uint64_t labels = 0;
  LabelFigures sum = {};
};

// Figures are weighted by importance. Add examples in input order: sums of floating-point numbers depend on it.
class Evaluation {
 public:
  static constexpr std::size_t kBins = 10;

  // `ks`: for how many of the most probable labels to compute RankFigures; ascending.
  Evaluation(const LabelDictionary& labels, const std::vector<std::size_t>& ks);

  void add(const ExampleView& x, const Judgement& judgement);
  // Call it after the last example.
  void finish() { close_line(); }

  // Over all examples: a new label has p = 0 and no rank.
  const EvaluatedPart& all() const { return all_; }
  // Without new labels.
  const EvaluatedPart& seen() const { return seen_; }
  const std::array<CalibrationBin, kBins>& calibration() const { return calibration_; }
  // The mean over all examples of |predicted - right|, each the mean of the example's bin.
  double calibration_error() const;

  // Labels that examples have, or that were the best for one; the most frequent first, then by name.
  using NamedFigures = std::pair<std::string_view, LabelFigures>;
  std::vector<NamedFigures> by_label() const;
  // Classes by decade of frequency, from the rarest; empty ones and new labels are left out.
  std::vector<FrequencyClass> by_frequency() const;
  FrequencyClass new_labels() const;

 private:
  // The examples of one line.
  struct Line {
    std::uint32_t shard = 0;
    std::uint64_t position = 0;
    double weight = 0;
    std::size_t labels = 0;
    std::size_t seen = 0;  // labels that are not new
    std::vector<std::size_t> ranks;
  };
  struct HashOfName {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return std::hash<std::string_view>()(name); }
  };

  LabelFigures& of(std::string_view label);
  void add_to_line(const ExampleView& x, const Judgement& judgement);
  void close_line();

  const LabelDictionary& labels_;
  EvaluatedPart all_;
  EvaluatedPart seen_;
  std::array<CalibrationBin, kBins> calibration_;
  std::unordered_map<std::string, LabelFigures, HashOfName, std::equal_to<>> by_label_;
  Line line_;
};

}  // namespace cpt
