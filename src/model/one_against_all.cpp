#include "model/one_against_all.h"

#include <algorithm>
#include <array>

namespace cpt {

namespace {

// [c][s]: a row whose first c lanes have labels, of which lane s (0: none) has the example's.
using RowTargets = std::array<std::array<Targets, kLanes>, kLanes>;

constexpr RowTargets make_row_targets() {
  RowTargets all{};
  for (std::size_t count = 1; count < kLanes; ++count) {
    for (std::size_t own = 0; own <= count; ++own) {
      Line trained{};
      Line right{};
      for (std::size_t lane = 1; lane <= count; ++lane) trained[lane] = 1;
      if (own > 0) right[own] = 1;
      all[count][own] = targets_of(trained, right);
    }
  }
  return all;
}

constexpr RowTargets kRowTargets = make_row_targets();

}  // namespace

void OneAgainstAll::locate(const ExampleView& x, LabelId label, Walk& walk) const {
  walk.example = x;
  walk.label = label;
  walk.lines.clear();  // those of another example
  walk.lines_asked_for = 0;
}

double OneAgainstAll::sum_of_estimates(const Walk& walk) const {
  double sum = 0;
  for (std::size_t label = 0; label < labels(); ++label) sum += RegressorRows::estimate(walk, label);
  return sum;
}

double OneAgainstAll::predict(Walk& walk) const {
  rows_.predict(labels(), walk);
  return share(RegressorRows::estimate(walk, walk.label), sum_of_estimates(walk));
}

void OneAgainstAll::train(Walk& walk) {
  const std::size_t rows = walk.probabilities.size();
  walk.targets.resize(rows);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t count = std::min(labels() - row * kRegressorsPerRow, kRegressorsPerRow);
    walk.targets[row] = &kRowTargets[count][row == row_of(walk.label) ? lane_of(walk.label) : 0];
  }
  rows_.train(walk);
}

std::vector<double> OneAgainstAll::all_probabilities(const ExampleView& x) const {
  Walk walk;
  walk.example = x;
  rows_.predict(labels(), walk);
  const double sum = sum_of_estimates(walk);
  std::vector<double> probabilities(labels());
  for (std::size_t label = 0; label < labels(); ++label) {
    probabilities[label] = share(RegressorRows::estimate(walk, label), sum);
  }
  return probabilities;
}

double OneAgainstAll::estimate(const ExampleView& x, LabelId label) const {
  Walk walk;
  walk.example = x;
  rows_.predict(labels(), walk);
  return RegressorRows::estimate(walk, label);
}

}  // namespace cpt
