#include "model/weights/regressors.h"

#include "cpt/hashing.h"
#include "model/weights/hadamard_code.h"

namespace cpt {

namespace {

constexpr std::uint64_t key_of_group(std::size_t group) { return mix(0x6c62272e07bb0142ULL + group) | 1; }

}  // namespace

Regressors::Regressors(WeightTable& weights, const ModelOptions& options)
    : weights_(&weights),
      loss_(options.loss),
      update_(options.update),
      rate_(static_cast<float>(options.learning_rate)) {}

inline void Regressors::find_rows(const ExampleView& x, std::uint64_t key, const Region& region, float** rows) const {
  cpt::find_rows(x.features, key, region, weights_->row(0), rows);
}

void Regressors::train(PathState& path_state) {
  const ExampleView& x = path_state.example;
  const auto scale = static_cast<float>(static_cast<double>(x.importance) / x.squared_length());
  const UpdateStep update_step{path_state.probabilities.data(), path_state.targets.data(), scale, update_, rate_};
  train_blocks(path_state.rows_of(path_state.probabilities.size()), update_step);
}

NodeRegressors::NodeRegressors(WeightTable& weights, const ModelOptions& options)
    : Regressors(weights, options),
      clip_(options.clip),
      arity_(options.ways()),
      targets_(targets_by_position(arity_)) {}

void NodeRegressors::locate(const Blocks& blocks, bool at_leaf, PathState& path_state) const {
  const std::size_t features = path_state.example.features.size();
  path_state.forget_targets();
  path_state.targets.resize(path_state.path.size());
  path_state.rows.resize(path_state.path.size() * features);
  float** rows = path_state.rows.data();
  for (std::size_t i = 0; i < path_state.path.size(); ++i, rows += features) {
    const BlockHeader& header = blocks.header(path_state.path[i].block);
    find_rows(path_state.example, header.key, weights_->region(header.partition), rows);
    path_state.targets[i] = &targets_[path_state.path[i].position];
  }
  finish_path(at_leaf, path_state);
}

void NodeRegressors::extend(const BlockHeader& top, std::span<const std::uint8_t> positions,
                            PathState& path_state) const {
  const std::size_t features = path_state.example.features.size();
  const std::size_t begin = path_state.path.size();
  const std::size_t end = begin + positions.size();
  path_state.path.resize(end);
  path_state.targets.resize(end);
  path_state.rows.resize(end * features);
  const Region& region = weights_->region(top.partition);
  float** rows = path_state.rows.data() + begin * features;
  std::uint64_t key = top.key;
  for (std::size_t i = begin; i < end; ++i, rows += features) {
    const std::uint8_t position = positions[i - begin];
    find_rows(path_state.example, key, region, rows);
    path_state.path[i] = {kNotLookedUp, position};
    path_state.targets[i] = &targets_[position];
    key = key_below(key, position);
  }
}

void NodeRegressors::finish_path(bool at_leaf, PathState& path_state) const {
  path_state.at_leaf = at_leaf;
  if (at_leaf) path_state.targets.back() = &targets_at(arity_, path_state.path.back().position, true);
}

void NodeRegressors::predict(PathState& path_state) const {
  path_state.prefetch_rows(path_state.rows.size());
  const std::size_t blocks = path_state.path.size();
  path_state.probabilities.resize(blocks);
  predict_blocks(path_state.rows_of(blocks), loss_, path_state.probabilities.data());
}

void NodeRegressors::predict(const Blocks& blocks, PathState& path_state) const {
  predict(path_state);
  if (arity_ == 2) return;
  path_state.sides = path_state.probabilities;
  path_state.occupied.clear();
  for (const PathStep& step : path_state.path) path_state.occupied.push_back(blocks.nodes(step.block).occupied);
  decode_columns(path_state.occupied.data(), path_state.path.size(), arity_, path_state.sides.data());
}

Row NodeRegressors::block_probabilities(const ExampleView& x, const Blocks& blocks, BlockId block,
                                        std::vector<float*>& rows, const BlockHeader* next) const {
  rows.resize(x.features.size());
  const BlockHeader& header = blocks.header(block);
  find_rows(x, header.key, weights_->region(header.partition), rows.data());
  for (const float* row : rows) __builtin_prefetch(row);
  if (next != nullptr) prefetch(x, *next);
  Row probabilities;
  predict_blocks({rows.data(), x.values.data(), x.values.size(), 1}, loss_, &probabilities);
  if (arity_ != 2) decode_columns(&blocks.nodes(block).occupied, 1, arity_, &probabilities);
  return probabilities;
}

void NodeRegressors::prefetch(const ExampleView& x, const BlockHeader& block) const {
  const Region& region = weights_->region(block.partition);
  for (FeatureHash feature : x.features) {
    __builtin_prefetch(weights_->row(WeightTable::index(feature, block.key, region)));
  }
}

LabelRegressors::LabelRegressors(WeightTable& weights, const ModelOptions& options)
    : Regressors(weights, options), whole_{0, weights.rows()} {}

void LabelRegressors::find_group(const ExampleView& x, std::size_t group, float** rows) const {
  find_rows(x, key_of_group(group), whole_, rows);
  for (std::size_t f = 0; f < x.features.size(); ++f) __builtin_prefetch(rows[f], 1, 3);
}

void LabelRegressors::predict(std::size_t count, PathState& path_state) const {
  const ExampleView& x = path_state.example;
  const std::size_t groups = groups_for(count);
  const std::size_t features = x.features.size();
  path_state.rows.resize(groups * features);
  path_state.probabilities.resize(groups);
  if (groups > 0) find_group(x, 0, path_state.rows.data());
  for (std::size_t group = 0; group < groups; ++group) {
    float** rows = path_state.rows.data() + group * features;
    // Prefetches the rows of the next group while this one is computed.
    if (group + 1 < groups) find_group(x, group + 1, rows + features);
    predict_blocks({rows, x.values.data(), features, 1}, loss_, &path_state.probabilities[group]);
  }
}

float LabelRegressors::weight(FeatureHash feature, std::size_t i) const {
  return Regressors::weight(feature, key_of_group(group_of(i)), whole_, lane_of(i));
}

}  // namespace cpt
