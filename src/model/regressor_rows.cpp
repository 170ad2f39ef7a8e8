#include "model/regressor_rows.h"

#include "cpt/hashing.h"
#include "model/line_kernel.h"

namespace cpt {

namespace {

constexpr std::uint64_t key_of_row(std::size_t row) { return mix(0x6c62272e07bb0142ULL + row) | 1; }

}  // namespace

RegressorRows::RegressorRows(WeightTable& weights, const ModelOptions& options)
    : weights_(&weights),
      whole_{0, weights.lines()},
      loss_(options.loss),
      update_(options.update),
      rate_(static_cast<float>(options.learning_rate)) {}

void RegressorRows::find_row(const ExampleView& x, std::size_t row, float** lines) const {
  find_lines(x.features, key_of_row(row), whole_, weights_->line(0), lines);
  for (std::size_t f = 0; f < x.features.size(); ++f) __builtin_prefetch(lines[f], 1, 3);
}

void RegressorRows::predict(std::size_t regressors, Walk& walk) const {
  const ExampleView& x = walk.example;
  const std::size_t rows = rows_for(regressors);
  const std::size_t features = x.features.size();
  walk.lines.resize(rows * features);
  walk.probabilities.resize(rows);
  if (rows > 0) find_row(x, 0, walk.lines.data());
  for (std::size_t row = 0; row < rows; ++row) {
    float** lines = walk.lines.data() + row * features;
    // The next row is on its way from memory while this one is used.
    if (row + 1 < rows) find_row(x, row + 1, lines + features);
    predict_blocks({lines, x.values.data(), features, 1}, loss_, &walk.probabilities[row]);
  }
}

void RegressorRows::train(Walk& walk) {
  const ExampleView& x = walk.example;
  const auto scale = static_cast<float>(static_cast<double>(x.importance) / x.squared_length());
  const Lesson lesson{walk.probabilities.data(), walk.targets.data(), scale, update_, rate_};
  train_blocks(walk.lines_of(walk.probabilities.size()), lesson);
}

float RegressorRows::weight(FeatureHash feature, std::size_t regressor) const {
  return weights_->line(WeightTable::index(feature, key_of_row(row_of(regressor)), whole_))[lane_of(regressor)];
}

}  // namespace cpt
