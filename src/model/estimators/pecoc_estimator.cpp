#include "model/estimators/pecoc_estimator.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>

#include "cpt/error.h"

namespace cpt {

void walsh_hadamard(std::vector<double>& values) {
  for (std::size_t half = 1; half < values.size(); half *= 2) {
    for (std::size_t begin = 0; begin < values.size(); begin += 2 * half) {
      for (std::size_t i = begin; i < begin + half; ++i) {
        const double even = values[i];
        const double odd = values[i + half];
        values[i] = even + odd;
        values[i + half] = even - odd;
      }
    }
  }
}

Insertion PecocEstimator::choose_split(const ScaledExample& x) const {
  throw Error(Fault::kBadData, "label " + std::string(x.label) + " is not among the " + std::to_string(labels()) +
                                   " labels that this pecoc model was created with");
}

std::size_t PecocEstimator::columns() const { return std::bit_ceil(labels()); }

void PecocEstimator::locate(const ScaledExample& x, LabelId label, PathState& path_state) const {
  path_state.example = x;
  path_state.label = label;
  path_state.rows.clear();  // of another example
}

// The estimates of the labels, not negative and not divided by their sum.
std::vector<double> PecocEstimator::estimates(PathState& path_state) const {
  const std::size_t k = columns();
  regressors_.predict(k - 1, path_state);
  std::vector<double> values(k, 1);
  for (std::size_t row = 1; row < k; ++row) values[row] = 1 - 2 * LabelRegressors::estimate(path_state, row - 1);
  walsh_hadamard(values);
  values.resize(labels());
  for (double& value : values) value = value < 0 ? 0 : value / static_cast<double>(k);  // NaN stays
  return values;
}

double PecocEstimator::predict(PathState& path_state) const {
  const std::vector<double> all = estimates(path_state);
  return normalized(all[path_state.label], std::accumulate(all.begin(), all.end(), 0.0));
}

void PecocEstimator::train(PathState& path_state) {
  const std::size_t regressors = columns() - 1;
  row_targets_.clear();
  for (std::size_t first = 0; first < regressors; first += kRegressorsPerGroup) {
    Row trained{};
    Row right{};
    for (std::size_t i = first; i < std::min(first + kRegressorsPerGroup, regressors); ++i) {
      trained[lane_of(i)] = 1;
      right[lane_of(i)] = static_cast<float>(std::popcount((i + 1) & path_state.label) % 2);
    }
    row_targets_.push_back(targets_of(trained, right));
  }
  path_state.targets.clear();
  for (const LaneTargets& targets : row_targets_) path_state.targets.push_back(&targets);
  regressors_.train(path_state);
}

std::vector<double> PecocEstimator::all_probabilities(const ScaledExample& x) const {
  if (labels() == 0) return {};
  PathState path_state;
  path_state.example = x;
  std::vector<double> all = estimates(path_state);
  const double sum = std::accumulate(all.begin(), all.end(), 0.0);
  for (double& probability : all) probability = normalized(probability, sum);
  return all;
}

}  // namespace cpt
