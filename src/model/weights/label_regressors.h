// Regressors that every example tasks, in the same rows and by the same kernels as those of a tree: number i is lane
// 1 + i % 15 of bank i / 15, and a bank has a row for each feature, like a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"
#include "model/weights/kernels.h"
#include "model/weights/node_regressors.h"
#include "model/weights/weight_table.h"

namespace cpt {

inline constexpr std::size_t kRegressorsPerBank = kLanes - 1;

constexpr std::size_t bank_of(std::size_t regressor) { return regressor / kRegressorsPerBank; }
constexpr std::size_t lane_of(std::size_t regressor) { return 1 + regressor % kRegressorsPerBank; }
// How many banks hold this number of regressors.
constexpr std::size_t banks_for(std::size_t regressors) {
  return (regressors + kRegressorsPerBank - 1) / kRegressorsPerBank;
}

// Borrows the weights. Banks are spread over the whole table, whatever its partitions: these only say who stores a row.
// Const members only read and may run in several threads, each with its own PathState.
class LabelRegressors {
 public:
  LabelRegressors(WeightTable& weights, const ModelOptions& options);

  // Computes path_state.rows and path_state.probabilities, by bank, of path_state.example for so many regressors. The
  // lanes that are left in the last bank hold what regressors without weights say.
  void predict(std::size_t regressors, PathState& path_state) const;
  // What regressor i says. After predict().
  static double estimate(const PathState& path_state, std::size_t i) {
    return static_cast<double>(path_state.probabilities[bank_of(i)][lane_of(i)]);
  }
  // Trains all banks towards path_state.targets, which has one for each. After predict().
  void train(PathState& path_state);

  // The margin of a regressor is the sum of weight * value over the features of x.
  float weight(FeatureHash feature, std::size_t regressor) const;

 private:
  void find_bank(const ExampleView& x, std::size_t bank, float** rows) const;

  WeightTable* weights_;
  Region whole_;
  Loss loss_;
  Update update_;
  float rate_;
};

}  // namespace cpt
