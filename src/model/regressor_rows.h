// Regressors that every example visits, in the same lines and by the same kernels as those of a tree: number i is lane
// 1 + i % 15 of row i / 15, and a row has a line for each feature, like a block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"
#include "model/kernels.h"
#include "model/regressors.h"
#include "model/weight_table.h"

namespace cpt {

inline constexpr std::size_t kRegressorsPerRow = kLanes - 1;

constexpr std::size_t row_of(std::size_t regressor) { return regressor / kRegressorsPerRow; }
constexpr std::size_t lane_of(std::size_t regressor) { return 1 + regressor % kRegressorsPerRow; }
// Rows that hold so many regressors.
constexpr std::size_t rows_for(std::size_t regressors) {
  return (regressors + kRegressorsPerRow - 1) / kRegressorsPerRow;
}

// Borrows the weights. Rows are spread over the whole table, whatever its partitions: these only say who stores a line.
// Const members only read and may run in several threads, each with its own Walk.
class RegressorRows {
 public:
  RegressorRows(WeightTable& weights, const ModelOptions& options);

  // Computes walk.lines and walk.probabilities, by row, of walk.example for so many regressors. The lanes that are left
  // in the last row hold what regressors without weights say.
  void predict(std::size_t regressors, Walk& walk) const;
  // What regressor i says. After predict().
  static double estimate(const Walk& walk, std::size_t i) {
    return static_cast<double>(walk.probabilities[row_of(i)][lane_of(i)]);
  }
  // Trains all rows towards walk.targets, which has one for each. After predict().
  void train(Walk& walk);

  // The margin of a regressor is the sum of weight * value over the features of x.
  float weight(FeatureHash feature, std::size_t regressor) const;

 private:
  void find_row(const ExampleView& x, std::size_t row, float** lines) const;

  WeightTable* weights_;
  Region whole_;
  Loss loss_;
  Update update_;
  float rate_;
};

}  // namespace cpt
