#include "model/estimators/one_against_all.h"

#include <algorithm>
#include <array>

namespace cpt {

namespace {

// [c][s]: the targets of a group whose first c lanes have labels; lane s has the example's label (0: none has).
using GroupTargets = std::array<std::array<LaneTargets, kLanes>, kLanes>;

constexpr GroupTargets make_group_targets() {
  GroupTargets all{};
  for (std::size_t count = 1; count < kLanes; ++count) {
    for (std::size_t own = 0; own <= count; ++own) {
      Row trained{};
      Row right{};
      for (std::size_t lane = 1; lane <= count; ++lane) trained[lane] = 1;
      if (own > 0) right[own] = 1;
      all[count][own] = targets_of(trained, right);
    }
  }
  return all;
}

constexpr GroupTargets kGroupTargets = make_group_targets();

}  // namespace

void OneAgainstAll::locate(const ScaledExample& x, LabelId label, PathState& path_state) const {
  path_state.example = x;
  path_state.label = label;
  path_state.rows.clear();  // of another example
}

double OneAgainstAll::sum_of_estimates(const PathState& path_state) const {
  double sum = 0;
  for (std::size_t label = 0; label < labels(); ++label) sum += LabelRegressors::estimate(path_state, label);
  return sum;
}

double OneAgainstAll::predict(PathState& path_state) const {
  regressors_.predict(labels(), path_state);
  return normalized(LabelRegressors::estimate(path_state, path_state.label), sum_of_estimates(path_state));
}

void OneAgainstAll::train(PathState& path_state) {
  const std::size_t groups = path_state.estimates.size();
  path_state.targets.resize(groups);
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t count = std::min(labels() - group * kRegressorsPerGroup, kRegressorsPerGroup);
    path_state.targets[group] =
        &kGroupTargets[count][group == group_of(path_state.label) ? lane_of(path_state.label) : 0];
  }
  regressors_.train(path_state);
}

std::vector<double> OneAgainstAll::all_probabilities(const ScaledExample& x) const {
  PathState path_state;
  path_state.example = x;
  regressors_.predict(labels(), path_state);
  const double sum = sum_of_estimates(path_state);
  std::vector<double> probabilities(labels());
  for (std::size_t label = 0; label < labels(); ++label) {
    probabilities[label] = normalized(LabelRegressors::estimate(path_state, label), sum);
  }
  return probabilities;
}

double OneAgainstAll::estimate(const ScaledExample& x, LabelId label) const {
  PathState path_state;
  path_state.example = x;
  regressors_.predict(labels(), path_state);
  return LabelRegressors::estimate(path_state, label);
}

}  // namespace cpt
