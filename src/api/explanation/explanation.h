// Why a label has the probability that it has: the nodes on its path, and what each feature adds to their margins.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"
#include "model/learning/learner.h"

namespace cpt {

// What a feature adds to the margin of a node, or of a label's regressor, towards the side taken.
struct Contribution {
  FeatureHash feature = 0;
  double value = 0;  // not 0
};

// P(side) = 1 / (1 + exp(-1.05 s)), s = a * margin + b + c * rare_margin, all towards the side taken.
struct ExplainedCalibration {
  double a = 0;
  double b = 0;
  double c = 0;
  double margin = 0;
  double rare_margin = 0;
};

struct ExplainedStep {
  std::uint32_t depth = 0;
  std::string side;        // L or R; of a node with more branches, the column of its code
  double probability = 0;  // of that side
  std::optional<ExplainedCalibration> calibration;
  std::vector<Contribution> contributions;  // the largest first
};

struct ExplainedTree {
  double probability = 0;            // the product over the steps
  std::vector<ExplainedStep> steps;  // from the root
};

struct Explanation {
  double probability = 0;                   // the mean over the trees
  std::vector<ExplainedTree> trees;         // empty for kOneAgainstAll
  double estimate = 0;                      // kOneAgainstAll: of the label's regressor, before normalization
  std::vector<Contribution> contributions;  // kOneAgainstAll: to its margin
};

// Throws Error(kUsage) for methods whose probabilities no features explain: kTable, kPecoc.
void require_explainable(const ModelOptions& options);

// Explains P(label | x) of a label that the model has, with the `top` largest contributions of each step.
Explanation explain(const Learner& learner, const ExampleView& x, LabelId label, std::uint64_t top);

}  // namespace cpt
