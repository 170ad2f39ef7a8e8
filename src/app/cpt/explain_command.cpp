#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/cpt/commands.h"
#include "app/cpt/io/command_input.h"
#include "app/cpt/io/result_writer.h"
#include "app/cpt/view/tree_view.h"
#include "app/shared/command_line.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/estimators/one_against_all.h"
#include "model/estimators/tree_estimator.h"
#include "model/learning/learner.h"

namespace cpt {

namespace {

constexpr const char* kExplainFooter =
    R"(For each example, prints its place in the input, its label and P(label | x); then one row per node
on the path of the label: the depth, the side taken, P(side), and the features with the largest
contributions. The product of the P(side) is P(label | x); of several trees, each has rows of its
own, and P(label | x) is the mean. A contribution is weight * value, positive if it favors the side
taken; all contributions add up to the node's margin. If nodes are calibrated, P(side) = 1 / (1 +
exp(-1.05 s)) with s = a * margin + b + c * rare margin: the columns show a, b, c and both margins
towards the side taken. The rare margin weighs features by their rarity. Contributions are then
shares of s - b: what rarity adds is part of them. Features are printed as NAMESPACE^NAME,
interactions as AB^NAME*NAME, the constant feature as (constant), and features of binary shards,
which hold no names, as hashes. If a line has no label, its most probable label is explained.

In nodes with K > 2 branches, the side is a column of the node's code, and a contribution is 2 / K
times what the feature adds to the margins of rows that contain the column, minus what it adds to
the others. A one-against-all model has no paths: its single row shows the estimate of the label's
regressor before normalization and the contributions to its margin.

Example:
  cpt explain --model runs/ads/model --data test.vw --top 3)";

struct ExplainOptions {
  CommandInput input;
  std::uint64_t top = 5;
};

// The names of the features of the line read last.
class FeatureNames {
 public:
  FeatureNames() { clear(); }

  void clear() {
    names_.clear();
    names_.emplace(kConstantFeature, "(constant)");
  }
  void add(FeatureHash feature, std::string_view name_space, std::string_view name) {
    auto& text = names_[feature];
    if (!text.empty()) return;
    if (!name_space.empty()) text.append(name_space).append("^");
    text.append(name);
  }
  // Binary shards hold hashes only.
  std::string name(FeatureHash feature) const {
    const auto known = names_.find(feature);
    return known != names_.end() ? known->second : fmt::format("#{:016x}", feature);
  }

 private:
  std::unordered_map<FeatureHash, std::string> names_;
};

struct Contribution {
  FeatureHash feature;
  double value;  // for the side taken
};

// The contribution of a feature of value 1 to the child that a step takes.
double weight_for_child(const NodeRegressors& regressors, const BlockHeader& block, FeatureHash feature,
                        const LabelledStep& step) {
  double sum = 0;
  for (std::uint32_t depth = 0; depth < step.node.levels; ++depth) {
    for (std::uint32_t lane = step.node.slot << depth; lane < (step.node.slot + 1) << depth; ++lane) {
      const auto weight = static_cast<double>(regressors.weight(feature, block, static_cast<std::uint8_t>(lane)));
      sum += row_contains(step.node, lane, step.column) ? weight : -weight;
    }
  }
  return 2 * sum / static_cast<double>(1U << step.node.levels);
}

// The `top` contributions with the largest absolute values, largest first, ties in the order given.
std::vector<Contribution> largest(std::vector<Contribution> all, std::uint64_t top) {
  std::ranges::stable_sort(all, std::greater(), [](const Contribution& part) { return std::abs(part.value); });
  all.resize(std::min<std::size_t>(all.size(), top));
  return all;
}

// The largest of all that are not 0. weight(feature) is the contribution of the feature at value 1.
template <class Weight>
std::vector<Contribution> contributions(const ExampleView& x, Weight weight, std::uint64_t top) {
  std::vector<Contribution> all;
  for (std::size_t f = 0; f < x.features.size(); ++f) {
    const double value = weight(x.features[f]) * static_cast<double>(x.values[f]);
    if (value != 0) all.push_back({x.features[f], value});
  }
  return largest(std::move(all), top);
}

// The probability of the child that a step takes: the product of the probabilities of the sides that lead there.
double child_probability(const NodeRegressors& regressors, const Row& sides, const LabelledStep& step) {
  double product = 1;
  std::uint32_t slot = step.node.slot;
  for (std::uint32_t level = 1; level <= step.levels; ++level) {
    const bool is_right = (step.column >> (step.node.levels - level) & 1) == 1;
    const double right = regressors.clipped(sides[slot]);
    product *= is_right ? right : 1 - right;
    slot = 2 * slot + (is_right ? 1 : 0);
  }
  return product;
}

// The child that a step takes, as a side or the number of a column.
std::string child_text(const LabelledStep& step) {
  if (step.node.levels == 1) return step.column == 1 ? "R" : "L";
  return std::to_string(step.column);
}

// Explains the probabilities of labels, one example at a time.
class Explainer {
 public:
  Explainer(const Learner& learner, const FeatureNames& names, std::uint64_t top, ResultWriter& out)
      : learner_(learner), names_(names), top_(top), out_(out) {}

  void explain(const std::string& place, const ExampleView& x) {
    LabelId label = learner_.find(x);
    const char* remark = "";
    if (x.label.empty()) {
      const std::vector<Ranked> best = learner_.top_k(x, 1);
      if (best.empty()) return out_.print("{}  no label, and none in the model\n", place);
      label = best.front().label;
      remark = "  (no label on the line: the most probable one)";
    }
    if (label == kNoLabel) return out_.print("{}  {}  not in the model\n", place, x.label);
    learner_.locate(x, label, path_state_);
    out_.print("{}  {}  P = {:.6g}{}\n", place, learner_.labels().name(label), learner_.predict(path_state_), remark);
    if (const auto* flat = dynamic_cast<const OneAgainstAll*>(&learner_.estimator())) {
      print_regressor(*flat, x, label);
    } else {
      print_paths(dynamic_cast<const TreeEstimator&>(learner_.estimator()), x, label);
    }
  }

 private:
  void print_contributions(const std::vector<Contribution>& parts) {
    for (const Contribution& part : parts) out_.print("  {} {:+.4g}", names_.name(part.feature), part.value);
    out_.print("\n");
  }

  void print_regressor(const OneAgainstAll& estimator, const ExampleView& x, LabelId label) {
    out_.print("  estimate  contributions\n  {:<8.6f}", estimator.estimate(learner_.scaled(x, room_), label));
    const auto weight = [&](FeatureHash feature) { return static_cast<double>(estimator.weight(feature, label)); };
    print_contributions(contributions(x, weight, top_));
  }

  void print_paths(const TreeEstimator& estimator, const ExampleView& x, LabelId label) {
    for (std::size_t t = 0; t < learner_.trees().size(); ++t) {
      if (learner_.trees().size() > 1) out_.print("  tree {}: P = {:.6g}\n", t + 1, estimator.of_tree(t, path_state_));
      print_path(estimator.regressors(), x, learner_.tree(t), label);
    }
  }

  void print_path(const NodeRegressors& regressors, const ExampleView& x, const Tree& tree, LabelId label) {
    const std::vector<LabelledStep> steps = label_steps(tree, learner_.options().ways(), label);
    if (learner_.options().ways() == 2 && learner_.options().calibrates()) {
      return print_calibrated_path(regressors, x, tree, steps);
    }
    if (!steps.empty()) out_.print("  depth  side  P(side)   contributions\n");
    std::uint32_t depth = 0;
    const ScaledExample scaled = learner_.scaled(x, room_);
    for (const LabelledStep& step : steps) {
      const Row sides = regressors.block_probabilities(scaled, tree.structure(), step.block, rows_);
      out_.print("  {:>5}  {:<4}  {:<8.6f}", depth, child_text(step), child_probability(regressors, sides, step));
      const auto weight = [&](FeatureHash feature) {
        return weight_for_child(regressors, tree.header(step.block), feature, step);
      };
      print_contributions(contributions(x, weight, top_));
      depth += step.levels;
    }
  }

  void print_calibrated_path(const NodeRegressors& regressors, const ExampleView& x, const Tree& tree,
                             const std::vector<LabelledStep>& steps) {
    if (steps.empty()) return;
    out_.print("  depth  side  P(side)   a       b        c       margin   rare margin  contributions\n");
    const ScaledExample scaled = learner_.scaled(x, room_);
    for (std::size_t depth = 0; depth < steps.size(); ++depth) {
      const LabelledStep& step = steps[depth];
      const BlockHeader& block = tree.header(step.block);
      const std::uint32_t lane = step.node.slot;
      const Estimate estimate = regressors.block_estimate(scaled, block, rows_);
      const Calibrator& calibrator = *regressors.calibrator(block);
      const double towards = step.column == 1 ? 1 : -1;
      const auto a = static_cast<double>(calibrator.at(lane, Calibrator::kA));
      const auto b = towards * static_cast<double>(calibrator.at(lane, Calibrator::kB));
      const auto c = static_cast<double>(calibrator.at(lane, Calibrator::kC));
      out_.print("  {:>5}  {:<4}  {:<8.6f}  {:<6.4f}  {:<+7.4f}  {:<6.4f}  {:<+7.4g}  {:<+11.4g}", depth,
                 child_text(step), child_probability(regressors, estimate.right, step), a, b, c,
                 towards * static_cast<double>(estimate.margin[lane]),
                 towards * static_cast<double>(estimate.scaled[lane]));
      std::vector<Contribution> parts;
      for (std::size_t f = 0; f < x.features.size(); ++f) {
        const double weight =
            towards * static_cast<double>(regressors.weight(x.features[f], block, static_cast<std::uint8_t>(lane)));
        const double value = a * static_cast<double>(scaled.values[f]) + c * static_cast<double>(scaled.scaled[f]);
        if (weight * value != 0) parts.push_back({x.features[f], weight * value});
      }
      print_contributions(largest(std::move(parts), top_));
    }
  }

  const Learner& learner_;
  const FeatureNames& names_;
  std::uint64_t top_;
  ResultWriter& out_;
  PathState path_state_;
  std::vector<float*> rows_;
  ScaledValues room_;
};

void explain(const ExplainOptions& options) {
  FeatureNames names;
  const auto remember = [&names](FeatureHash feature, std::string_view name_space, std::string_view name) {
    names.add(feature, name_space, name);
  };
  OpenInput input(options.input, {.labels_required = false, .on_feature = remember});
  if (input.model().options().method == Method::kTable) {
    throw Error(Fault::kUsage,
                "the model was trained with --method table: it counts labels, and no feature explains a count");
  }
  if (input.model().options().method == Method::kPecoc) {
    throw Error(Fault::kUsage,
                "the model was trained with --method pecoc: all its regressors contribute to every label");
  }
  ResultWriter out;
  input.on_input_idle([&out] { out.flush(); });
  Explainer explainer(input.model().learner(), names, options.top, out);
  while (const Batch* line = input.next()) {
    for (std::size_t i = 0; i < line->size(); ++i) explainer.explain(input.place_of((*line)[i]), (*line)[i]);
    names.clear();
  }
  out.finish();
}

void declare(CLI::App& command, ExplainOptions& options) {
  add_input_options(command, options.input);
  add_count(command, "--top", options.top, 0, "Number of features per node");
}

}  // namespace

void add_explain_command(CLI::App& program, Action& action) {
  add_command<ExplainOptions>(program, action, "explain", "Shows why a label has the probability that it has.",
                              kExplainFooter, declare, explain);
}

}  // namespace cpt
