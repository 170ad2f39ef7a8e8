#include "model/weights/label_regressors.h"

#include "cpt/hashing.h"
#include "model/weights/row_kernel.h"

namespace cpt {

namespace {

constexpr std::uint64_t key_of_row(std::size_t bank) { return mix(0x6c62272e07bb0142ULL + bank) | 1; }

}  // namespace

LabelRegressors::LabelRegressors(WeightTable& weights, const ModelOptions& options)
    : weights_(&weights),
      whole_{0, weights.rows()},
      loss_(options.loss),
      update_(options.update),
      rate_(static_cast<float>(options.learning_rate)) {}

void LabelRegressors::find_bank(const ExampleView& x, std::size_t bank, float** rows) const {
  find_rows(x.features, key_of_row(bank), whole_, weights_->row(0), rows);
  for (std::size_t f = 0; f < x.features.size(); ++f) __builtin_prefetch(rows[f], 1, 3);
}

void LabelRegressors::predict(std::size_t regressors, PathState& path_state) const {
  const ExampleView& x = path_state.example;
  const std::size_t banks = banks_for(regressors);
  const std::size_t features = x.features.size();
  path_state.rows.resize(banks * features);
  path_state.probabilities.resize(banks);
  if (banks > 0) find_bank(x, 0, path_state.rows.data());
  for (std::size_t bank = 0; bank < banks; ++bank) {
    float** rows = path_state.rows.data() + bank * features;
    // The next bank is on its way from memory while this one is used.
    if (bank + 1 < banks) find_bank(x, bank + 1, rows + features);
    predict_blocks({rows, x.values.data(), features, 1}, loss_, &path_state.probabilities[bank]);
  }
}

void LabelRegressors::train(PathState& path_state) {
  const ExampleView& x = path_state.example;
  const auto scale = static_cast<float>(static_cast<double>(x.importance) / x.squared_length());
  const UpdateStep update_step{path_state.probabilities.data(), path_state.targets.data(), scale, update_, rate_};
  train_blocks(path_state.rows_of(path_state.probabilities.size()), update_step);
}

float LabelRegressors::weight(FeatureHash feature, std::size_t regressor) const {
  return weights_->row(WeightTable::index(feature, key_of_row(bank_of(regressor)), whole_))[lane_of(regressor)];
}

}  // namespace cpt
