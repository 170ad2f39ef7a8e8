#include "model/learning/evaluation.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cpt/hashing.h"
#include "cpt/losses.h"

namespace cpt {

namespace {

double ratio(double sum, double weight) { return weight > 0 ? sum / weight : 0; }

double log_loss(double p) { return -std::log(std::max(p, kLogFloor)); }

// The seed of an example's draw: the same in every run, whichever thread judges the example.
std::uint64_t draw_number(const ModelOptions& options, const ExampleView& x) {
  return mix(options.seed ^ mix(x.origin.position ^ mix(x.origin.shard ^ mix(x.label_hash))));
}

double discount(std::size_t rank) { return 1 / std::log2(1 + static_cast<double>(rank)); }

void add_losses(EvaluatedPart& part, double weight, const Judgement& judgement) {
  const double p = judgement.p;
  ++part.examples;
  part.log.add(weight, log_loss(p));
  part.brier.add(weight, 1 - 2 * p + judgement.squares);
  part.squared.add(weight, (1 - p) * (1 - p));
}

// `ranks`: those of the labels that are among the most probable ones. `labels`: how many the line has.
void add_ranks(EvaluatedPart& part, double weight, const std::vector<std::size_t>& ranks, std::size_t labels) {
  for (RankFigures& at : part.ranks) {
    double hits = 0;
    double gain = 0;
    double most = 0;
    for (const std::size_t rank : ranks) {
      if (rank > at.k) continue;
      ++hits;
      gain += discount(rank);
    }
    for (std::size_t rank = 1; rank <= std::min(at.k, labels); ++rank) most += discount(rank);
    at.precision.add(weight, hits / static_cast<double>(at.k));
    at.recall.add(weight, hits / static_cast<double>(labels));
    at.ndcg.add(weight, gain / most);
  }
}

}  // namespace

Judgement Judge::operator()(const ExampleView& x) {
  Judgement judgement;
  judgement.label = learner_->find(x);
  if (judgement.label != kNoLabel) judgement.p = probability(x, judgement.label);
  const std::vector<Ranked> best = learner_->top_k(x, depth_);
  if (best.empty()) return judgement;
  judgement.best = best.front().label;
  judgement.best_p = best.front().probability;
  judgement.squares = squares(x, best);
  const auto own = std::ranges::find(best, judgement.label, &Ranked::label);
  if (own != best.end()) judgement.rank = static_cast<std::size_t>(own - best.begin()) + 1;
  return judgement;
}

double Judge::probability(const ExampleView& x, LabelId label) {
  learner_->locate(x, label, path_state_);
  return learner_->predict(path_state_);
}

double Judge::squares(const ExampleView& x, const std::vector<Ranked>& best) {
  double sum = 0;
  for (const Ranked& label : best) sum += label.probability * label.probability;
  if (best.size() >= learner_->labels().size()) return sum;
  const std::uint64_t random = draw_number(learner_->options(), x);
  const std::vector<Ranked> drawn = learner_->draw(x, random);
  // P is the mean over the trees, so a label drawn from a tree chosen at random is drawn from P.
  const LabelId label = drawn[mix(random) % drawn.size()].label;
  if (label == kNoLabel || std::ranges::find(best, label, &Ranked::label) != best.end()) return sum;
  return sum + probability(x, label);
}

void WeightedMean::add(double weight, double value) {
  weight_ += weight;
  sum_ += weight * value;
  weight_squares_ += weight * weight;
  square_sum_ += weight * weight * value;
  square_squares_ += weight * weight * value * value;
}

double WeightedMean::mean() const { return ratio(sum_, weight_); }

double WeightedMean::interval() const {
  constexpr double kZ = 1.96;
  const double m = mean();
  const double errors = square_squares_ - 2 * m * square_sum_ + m * m * weight_squares_;
  return kZ * ratio(std::sqrt(std::max(errors, 0.0)), weight_);
}

LabelFigures& LabelFigures::operator+=(const LabelFigures& other) {
  examples += other.examples;
  weight += other.weight;
  right += other.right;
  log += other.log;
  predicted += other.predicted;
  return *this;
}

Evaluation::Evaluation(const LabelDictionary& labels, const std::vector<std::size_t>& ks) : labels_(labels) {
  for (EvaluatedPart* part : {&all_, &seen_}) {
    for (const std::size_t k : ks) part->ranks.emplace_back().k = k;
  }
}

void Evaluation::add(const ExampleView& x, const Judgement& judgement) {
  const auto weight = static_cast<double>(x.importance);
  const bool is_new = judgement.label == kNoLabel;
  const double right = !is_new && judgement.best == judgement.label ? weight : 0;
  add_losses(all_, weight, judgement);
  if (!is_new) add_losses(seen_, weight, judgement);
  add_to_line(x, judgement);

  LabelFigures& own = of(x.label);
  own.is_new = is_new;
  ++own.examples;
  own.weight += weight;
  own.right += right;
  own.log += weight * log_loss(judgement.p);
  if (judgement.best == kNoLabel) return;  // the model has no labels
  of(labels_.name(judgement.best)).predicted += weight;

  const auto number = static_cast<std::size_t>(judgement.best_p * kBins);
  CalibrationBin& bin = calibration_[std::min(number, kBins - 1)];
  ++bin.examples;
  bin.weight += weight;
  bin.predicted += weight * judgement.best_p;
  bin.right += right;
}

LabelFigures& Evaluation::of(std::string_view label) {
  const auto found = by_label_.find(label);
  return found != by_label_.end() ? found->second : by_label_[std::string(label)];
}

void Evaluation::add_to_line(const ExampleView& x, const Judgement& judgement) {
  if (x.origin.shard != line_.shard || x.origin.position != line_.position) close_line();
  line_.shard = x.origin.shard;
  line_.position = x.origin.position;
  line_.weight += static_cast<double>(x.importance);
  ++line_.labels;
  if (judgement.label != kNoLabel) ++line_.seen;
  if (judgement.rank > 0) line_.ranks.push_back(judgement.rank);
}

void Evaluation::close_line() {
  if (line_.labels > 0) add_ranks(all_, line_.weight, line_.ranks, line_.labels);
  if (line_.seen > 0) add_ranks(seen_, line_.weight, line_.ranks, line_.seen);
  line_.weight = 0;
  line_.labels = line_.seen = 0;
  line_.ranks.clear();
}

double Evaluation::calibration_error() const {
  double error = 0;
  double weight = 0;
  for (const CalibrationBin& bin : calibration_) {
    error += std::abs(bin.predicted - bin.right);
    weight += bin.weight;
  }
  return ratio(error, weight);
}

std::vector<Evaluation::NamedFigures> Evaluation::by_label() const {
  std::vector<NamedFigures> labels(by_label_.begin(), by_label_.end());
  std::ranges::sort(labels, [](const NamedFigures& a, const NamedFigures& b) {
    return a.second.examples != b.second.examples ? a.second.examples > b.second.examples : a.first < b.first;
  });
  return labels;
}

std::vector<FrequencyClass> Evaluation::by_frequency() const {
  std::vector<FrequencyClass> classes{{}};
  std::vector<NamedFigures> rarest_first = by_label();
  std::reverse(rarest_first.begin(), rarest_first.end());
  for (const auto& [label, figures] : rarest_first) {
    if (figures.is_new || figures.examples == 0) continue;
    while (classes.back().most < figures.examples) {
      const FrequencyClass& last = classes.back();
      const FrequencyClass next{.least = last.most + 1, .most = 10 * last.most + 9};
      if (last.labels == 0) classes.pop_back();
      classes.push_back(next);
    }
    ++classes.back().labels;
    classes.back().sum += figures;
  }
  if (classes.back().labels == 0) classes.pop_back();
  return classes;
}

FrequencyClass Evaluation::new_labels() const {
  FrequencyClass sum;
  for (const auto& [name, figures] : by_label()) {
    if (!figures.is_new) continue;
    ++sum.labels;
    sum.sum += figures;
  }
  return sum;
}

}  // namespace cpt
