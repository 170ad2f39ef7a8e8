#include "model/regressors.h"

#include "model/block_code.h"
#include "model/decode_kernel.h"

namespace cpt {

Regressors::Regressors(WeightTable& weights, const ModelOptions& options)
    : weights_(&weights),
      loss_(options.loss),
      update_(options.update),
      rate_(static_cast<float>(options.learning_rate)),
      clip_(options.clip),
      ways_(options.ways()) {}

void Regressors::append_lines(const ExampleView& x, std::uint64_t key, Partition partition,
                              std::vector<float*>& lines) const {
  const Region& region = weights_->region(partition);
  const std::size_t begin = lines.size();
  lines.resize(begin + x.features.size());
  float** out = lines.data() + begin;
  for (std::size_t f = 0; f < x.features.size(); ++f) {
    out[f] = weights_->line(WeightTable::index(x.features[f], key, region));
  }
}

void Regressors::locate(const Blocks& blocks, bool at_leaf, Walk& walk) const {
  walk.forget_lines();
  for (const Hop& hop : walk.path) {
    const BlockLink& link = blocks.link(hop.block);
    append_lines(walk.example, link.key, link.partition, walk.lines);
    walk.targets.push_back(&targets_at(ways_, hop.place, false));
  }
  aim_at_end(at_leaf, walk);
}

void Regressors::extend(const BlockLink& top, std::span<const std::uint8_t> places, Walk& walk) const {
  std::uint64_t key = top.key;
  for (const std::uint8_t place : places) {
    walk.path.push_back({kNotLookedUp, place});
    append_lines(walk.example, key, top.partition, walk.lines);
    walk.targets.push_back(&targets_at(ways_, place, false));
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
  compute_margins(walk.lines.data(), walk.example.values.data(), walk.example.values.size(), blocks,
                  walk.probabilities.data());
  compute_probabilities(walk.probabilities.data(), blocks, loss_, walk.probabilities.data());
}

void Regressors::predict(const Blocks& blocks, Walk& walk) const {
  predict(walk);
  if (ways_ == 2) return;
  walk.sides = walk.probabilities;
  walk.occupied.clear();
  for (const Hop& hop : walk.path) walk.occupied.push_back(blocks.content(hop.block).occupied);
  decode_columns(walk.occupied.data(), walk.path.size(), ways_, walk.sides.data());
}

double Regressors::hop_probability(const Walk& walk, std::size_t hop) const {
  const Line& probabilities = ways_ == 2 ? walk.probabilities[hop] : walk.sides[hop];
  double product = 1;
  for (std::uint32_t at = walk.path[hop].place; at > 1; at /= 2) {
    const double p = clipped(probabilities[at / 2]);
    product *= at % 2 == 1 ? p : 1 - p;
  }
  return product;
}

void Regressors::train(Walk& walk) {
  const std::size_t blocks = walk.path.size();
  const ExampleView& x = walk.example;
  walk.errors.resize(blocks);
  const auto scale = static_cast<float>(static_cast<double>(x.importance) / x.squared_length());
  compute_errors(walk.probabilities.data(), walk.targets.data(), blocks, scale, walk.errors.data());
  update_lines(walk.lines.data(), x.values.data(), x.values.size(), blocks, walk.errors.data(), update_, rate_);
}

Line Regressors::block_probabilities(const ExampleView& x, const Blocks& blocks, BlockId block,
                                     std::vector<float*>& lines, const BlockLink* soon) const {
  lines.clear();
  append_lines(x, blocks.link(block).key, blocks.link(block).partition, lines);
  for (const float* line : lines) __builtin_prefetch(line);
  if (soon != nullptr) prefetch(x, *soon);
  Line probabilities;
  compute_margins(lines.data(), x.values.data(), x.values.size(), 1, &probabilities);
  compute_probabilities(&probabilities, 1, loss_, &probabilities);
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
