#include "model/regressors.h"

#include "model/block_code.h"
#include "model/decode_kernel.h"
#include "model/line_kernel.h"

namespace cpt {

Regressors::Regressors(WeightTable& weights, const ModelOptions& options)
    : weights_(&weights),
      loss_(options.loss),
      update_(options.update),
      rate_(static_cast<float>(options.learning_rate)),
      clip_(options.clip),
      ways_(options.ways()),
      targets_(targets_by_place(ways_)) {}

inline void Regressors::find_lines(const ExampleView& x, std::uint64_t key, const Region& region, float** out) const {
  cpt::find_lines(x.features, key, region, weights_->line(0), out);
}

void Regressors::locate(const Blocks& blocks, bool at_leaf, Walk& walk) const {
  const std::size_t features = walk.example.features.size();
  walk.forget_targets();
  walk.targets.resize(walk.path.size());
  walk.lines.resize(walk.path.size() * features);
  float** lines = walk.lines.data();
  for (std::size_t i = 0; i < walk.path.size(); ++i, lines += features) {
    const BlockLink& link = blocks.link(walk.path[i].block);
    find_lines(walk.example, link.key, weights_->region(link.partition), lines);
    walk.targets[i] = &targets_[walk.path[i].place];
  }
  aim_at_end(at_leaf, walk);
}

void Regressors::extend(const BlockLink& top, std::span<const std::uint8_t> places, Walk& walk) const {
  const std::size_t features = walk.example.features.size();
  const std::size_t begin = walk.path.size();
  const std::size_t end = begin + places.size();
  walk.path.resize(end);
  walk.targets.resize(end);
  walk.lines.resize(end * features);
  const Region& region = weights_->region(top.partition);
  float** lines = walk.lines.data() + begin * features;
  std::uint64_t key = top.key;
  for (std::size_t i = begin; i < end; ++i, lines += features) {
    const std::uint8_t place = places[i - begin];
    find_lines(walk.example, key, region, lines);
    walk.path[i] = {kNotLookedUp, place};
    walk.targets[i] = &targets_[place];
    key = key_below(key, place);
  }
}

void Regressors::aim_at_end(bool at_leaf, Walk& walk) const {
  walk.at_leaf = at_leaf;
  if (at_leaf) walk.targets.back() = &targets_at(ways_, walk.path.back().place, true);
}

void Regressors::predict(Walk& walk) const {
  walk.ask_for_lines(walk.lines.size());
  const std::size_t blocks = walk.path.size();
  walk.probabilities.resize(blocks);
  predict_blocks(walk.lines_of(blocks), loss_, walk.probabilities.data());
}

void Regressors::predict(const Blocks& blocks, Walk& walk) const {
  predict(walk);
  if (ways_ == 2) return;
  walk.sides = walk.probabilities;
  walk.occupied.clear();
  for (const Hop& hop : walk.path) walk.occupied.push_back(blocks.content(hop.block).occupied);
  decode_columns(walk.occupied.data(), walk.path.size(), ways_, walk.sides.data());
}

void Regressors::train(Walk& walk) {
  const ExampleView& x = walk.example;
  const auto scale = static_cast<float>(static_cast<double>(x.importance) / x.squared_length());
  const Lesson lesson{walk.probabilities.data(), walk.targets.data(), scale, update_, rate_};
  train_blocks(walk.lines_of(walk.path.size()), lesson);
}

Line Regressors::block_probabilities(const ExampleView& x, const Blocks& blocks, BlockId block,
                                     std::vector<float*>& lines, const BlockLink* soon) const {
  lines.resize(x.features.size());
  find_lines(x, blocks.link(block).key, weights_->region(blocks.link(block).partition), lines.data());
  for (const float* line : lines) __builtin_prefetch(line);
  if (soon != nullptr) prefetch(x, *soon);
  Line probabilities;
  predict_blocks({lines.data(), x.values.data(), x.values.size(), 1}, loss_, &probabilities);
  if (ways_ != 2) decode_columns(&blocks.content(block).occupied, 1, ways_, &probabilities);
  return probabilities;
}

void Regressors::prefetch(const ExampleView& x, const BlockLink& block) const {
  const Region& region = weights_->region(block.partition);
  for (FeatureHash feature : x.features) {
    __builtin_prefetch(weights_->line(WeightTable::index(feature, block.key, region)));
  }
}

float Regressors::weight(FeatureHash feature, const BlockLink& block, std::uint8_t slot) const {
  return weights_->line(WeightTable::index(feature, block.key, weights_->region(block.partition)))[slot];
}

}  // namespace cpt
