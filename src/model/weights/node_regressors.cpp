#include "model/weights/node_regressors.h"

#include "model/weights/decode_kernel.h"
#include "model/weights/hadamard_code.h"
#include "model/weights/row_kernel.h"

namespace cpt {

Regressors::Regressors(WeightTable& weights, const ModelOptions& options)
    : weights_(&weights),
      loss_(options.loss),
      update_(options.update),
      rate_(static_cast<float>(options.learning_rate)),
      clip_(options.clip),
      ways_(options.ways()),
      targets_(targets_by_place(ways_)) {}

inline void Regressors::find_rows(const ExampleView& x, std::uint64_t key, const Region& region, float** out) const {
  cpt::find_rows(x.features, key, region, weights_->row(0), out);
}

void Regressors::locate(const Blocks& blocks, bool at_leaf, PathState& path_state) const {
  const std::size_t features = path_state.example.features.size();
  path_state.forget_targets();
  path_state.targets.resize(path_state.path.size());
  path_state.rows.resize(path_state.path.size() * features);
  float** rows = path_state.rows.data();
  for (std::size_t i = 0; i < path_state.path.size(); ++i, rows += features) {
    const BlockHeader& link = blocks.link(path_state.path[i].block);
    find_rows(path_state.example, link.key, weights_->region(link.partition), rows);
    path_state.targets[i] = &targets_[path_state.path[i].place];
  }
  aim_at_end(at_leaf, path_state);
}

void Regressors::extend(const BlockHeader& top, std::span<const std::uint8_t> places, PathState& path_state) const {
  const std::size_t features = path_state.example.features.size();
  const std::size_t begin = path_state.path.size();
  const std::size_t end = begin + places.size();
  path_state.path.resize(end);
  path_state.targets.resize(end);
  path_state.rows.resize(end * features);
  const Region& region = weights_->region(top.partition);
  float** rows = path_state.rows.data() + begin * features;
  std::uint64_t key = top.key;
  for (std::size_t i = begin; i < end; ++i, rows += features) {
    const std::uint8_t place = places[i - begin];
    find_rows(path_state.example, key, region, rows);
    path_state.path[i] = {kNotLookedUp, place};
    path_state.targets[i] = &targets_[place];
    key = key_below(key, place);
  }
}

void Regressors::aim_at_end(bool at_leaf, PathState& path_state) const {
  path_state.at_leaf = at_leaf;
  if (at_leaf) path_state.targets.back() = &targets_at(ways_, path_state.path.back().place, true);
}

void Regressors::predict(PathState& path_state) const {
  path_state.ask_for_rows(path_state.rows.size());
  const std::size_t blocks = path_state.path.size();
  path_state.probabilities.resize(blocks);
  predict_blocks(path_state.rows_of(blocks), loss_, path_state.probabilities.data());
}

void Regressors::predict(const Blocks& blocks, PathState& path_state) const {
  predict(path_state);
  if (ways_ == 2) return;
  path_state.sides = path_state.probabilities;
  path_state.occupied.clear();
  for (const PathStep& hop : path_state.path) path_state.occupied.push_back(blocks.content(hop.block).occupied);
  decode_columns(path_state.occupied.data(), path_state.path.size(), ways_, path_state.sides.data());
}

void Regressors::train(PathState& path_state) {
  const ExampleView& x = path_state.example;
  const auto scale = static_cast<float>(static_cast<double>(x.importance) / x.squared_length());
  const UpdateStep update_step{path_state.probabilities.data(), path_state.targets.data(), scale, update_, rate_};
  train_blocks(path_state.rows_of(path_state.path.size()), update_step);
}

Row Regressors::block_probabilities(const ExampleView& x, const Blocks& blocks, BlockId block,
                                    std::vector<float*>& rows, const BlockHeader* soon) const {
  rows.resize(x.features.size());
  find_rows(x, blocks.link(block).key, weights_->region(blocks.link(block).partition), rows.data());
  for (const float* row : rows) __builtin_prefetch(row);
  if (soon != nullptr) prefetch(x, *soon);
  Row probabilities;
  predict_blocks({rows.data(), x.values.data(), x.values.size(), 1}, loss_, &probabilities);
  if (ways_ != 2) decode_columns(&blocks.content(block).occupied, 1, ways_, &probabilities);
  return probabilities;
}

void Regressors::prefetch(const ExampleView& x, const BlockHeader& block) const {
  const Region& region = weights_->region(block.partition);
  for (FeatureHash feature : x.features) {
    __builtin_prefetch(weights_->row(WeightTable::index(feature, block.key, region)));
  }
}

float Regressors::weight(FeatureHash feature, const BlockHeader& block, std::uint8_t slot) const {
  return weights_->row(WeightTable::index(feature, block.key, weights_->region(block.partition)))[slot];
}

}  // namespace cpt
