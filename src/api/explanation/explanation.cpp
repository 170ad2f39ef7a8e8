#include "api/explanation/explanation.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "api/explanation/label_path.h"
#include "cpt/error.h"
#include "model/estimators/one_against_all.h"
#include "model/estimators/tree_estimator.h"

namespace cpt {

namespace {

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

// The largest contributions other than 0. weight(feature) is the contribution of the feature at value 1.
template <class Weight>
std::vector<Contribution> largest_contributions(const ExampleView& x, Weight weight, std::uint64_t top) {
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

std::string child_text(const LabelledStep& step) {
  if (step.node.levels == 1) return step.column == 1 ? "R" : "L";
  return std::to_string(step.column);
}

// Explains the path of one label through one tree after another.
class PathExplainer {
 public:
  PathExplainer(const Learner& learner, const NodeRegressors& regressors, const ExampleView& x, std::uint64_t top)
      : is_calibrated_(learner.options().effective_arity() == 2 && learner.options().calibrates()),
        regressors_(regressors),
        x_(x),
        scaled_(learner.scaled(x, room_)),
        top_(top) {}
  PathExplainer(const PathExplainer&) = delete;
  PathExplainer& operator=(const PathExplainer&) = delete;

  std::vector<ExplainedStep> explain(const Tree& tree, const std::vector<LabelledStep>& path) {
    std::vector<ExplainedStep> steps;
    std::uint32_t depth = 0;
    for (const LabelledStep& step : path) {
      steps.push_back(is_calibrated_ ? calibrated(tree, step) : plain(tree, step));
      steps.back().depth = depth;
      steps.back().side = child_text(step);
      depth += step.levels;
    }
    return steps;
  }

 private:
  ExplainedStep plain(const Tree& tree, const LabelledStep& step) {
    ExplainedStep explained;
    const Row sides = regressors_.block_probabilities(scaled_, tree.structure(), step.block, rows_);
    explained.probability = child_probability(regressors_, sides, step);
    const auto weight = [&](FeatureHash feature) {
      return weight_for_child(regressors_, tree.header(step.block), feature, step);
    };
    explained.contributions = largest_contributions(x_, weight, top_);
    return explained;
  }

  ExplainedStep calibrated(const Tree& tree, const LabelledStep& step) {
    const BlockHeader& block = tree.header(step.block);
    const std::uint32_t lane = step.node.slot;
    const Estimate estimate = regressors_.block_estimate(scaled_, block, rows_);
    const Calibrator& calibrator = *regressors_.calibrator(block);
    const double towards = step.column == 1 ? 1 : -1;
    const ExplainedCalibration terms{.a = static_cast<double>(calibrator.at(lane, Calibrator::kA)),
                                     .b = towards * static_cast<double>(calibrator.at(lane, Calibrator::kB)),
                                     .c = static_cast<double>(calibrator.at(lane, Calibrator::kC)),
                                     .margin = towards * static_cast<double>(estimate.margin[lane]),
                                     .rare_margin = towards * static_cast<double>(estimate.scaled[lane])};
    std::vector<Contribution> parts;
    for (std::size_t f = 0; f < x_.features.size(); ++f) {
      const double weight =
          towards * static_cast<double>(regressors_.weight(x_.features[f], block, static_cast<std::uint8_t>(lane)));
      const double value =
          terms.a * static_cast<double>(scaled_.values[f]) + terms.c * static_cast<double>(scaled_.scaled[f]);
      if (weight * value != 0) parts.push_back({x_.features[f], weight * value});
    }
    ExplainedStep explained;
    explained.probability = child_probability(regressors_, estimate.right, step);
    explained.calibration = terms;
    explained.contributions = largest(std::move(parts), top_);
    return explained;
  }

  bool is_calibrated_;
  const NodeRegressors& regressors_;
  const ExampleView& x_;
  ScaledValues room_;
  ScaledExample scaled_;  // refers to room_
  std::uint64_t top_;
  std::vector<float*> rows_;
};

}  // namespace

void require_explainable(const ModelOptions& options) {
  if (options.method == Method::kTable) {
    throw Error(Fault::kUsage,
                "the model was trained with --method table: it counts labels, and no feature explains a count");
  }
  if (options.method == Method::kPecoc) {
    throw Error(Fault::kUsage,
                "the model was trained with --method pecoc: all its regressors contribute to every label");
  }
}

Explanation explain(const Learner& learner, const ExampleView& x, LabelId label, std::uint64_t top) {
  require_explainable(learner.options());
  Explanation explanation;
  PathState path_state;
  learner.locate(x, label, path_state);
  explanation.probability = learner.predict(path_state);
  if (const auto* flat = dynamic_cast<const OneAgainstAll*>(&learner.estimator())) {
    ScaledValues room;
    explanation.estimate = flat->estimate(learner.scaled(x, room), label);
    const auto weight = [&](FeatureHash feature) { return static_cast<double>(flat->weight(feature, label)); };
    explanation.contributions = largest_contributions(x, weight, top);
    return explanation;
  }
  const auto& estimator = dynamic_cast<const TreeEstimator&>(learner.estimator());
  PathExplainer explainer(learner, estimator.regressors(), x, top);
  for (std::size_t t = 0; t < learner.trees().size(); ++t) {
    const std::vector<LabelledStep> path = label_steps(learner.tree(t), learner.options().effective_arity(), label);
    const double p = learner.trees().size() > 1 ? estimator.of_tree(t, path_state) : explanation.probability;
    explanation.trees.push_back({p, explainer.explain(learner.tree(t), path)});
  }
  return explanation;
}

}  // namespace cpt
