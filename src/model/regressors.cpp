#include "model/regressors.h"

#include <algorithm>
#include <array>

namespace cpt {

namespace {

// What a path that leaves a block at a place trains there: the nodes above the place, each towards the side taken; and
// if it ends at a place that could become a slot, the leaf's regressor, in the lane that the slot will have, towards 0.
constexpr Targets targets_at(std::uint32_t place, bool leaf) {
  Targets targets{};
  for (std::uint32_t at = place; at > 1; at /= 2) {
    targets.trained[at / 2] = 1;
    targets.right[at / 2] = static_cast<float>(at % 2);
  }
  if (leaf && place < kLanes) targets.trained[place] = 1;
  return targets;
}

constexpr std::array<Targets, 64> all_targets() {
  std::array<Targets, 64> all{};
  for (std::uint32_t place = 1; place < 32; ++place) {
    all[place] = targets_at(place, false);
    all[32 + place] = targets_at(place, true);
  }
  return all;
}

constexpr std::array<Targets, 64> kTargets = all_targets();  // [leaf * 32 + place]

}  // namespace

Regressors::Regressors(WeightTable& weights, const ModelOptions& options)
    : weights_(&weights),
      loss_(options.loss),
      update_(options.update),
      rate_(static_cast<float>(options.learning_rate)),
      clip_(options.clip) {}

void Regressors::append_lines(const ExampleView& x, std::uint64_t key, Partition partition,
                              std::vector<float*>& lines) const {
  const Region& region = weights_->region(partition);
  const std::size_t begin = lines.size();
  lines.resize(begin + x.features.size());
  float** out = lines.data() + begin;
  for (std::size_t f = 0; f < x.features.size(); ++f) {
    out[f] = weights_->line(WeightTable::index(x.features[f], key, region));
    __builtin_prefetch(out[f], 1, 3);
  }
}

void Regressors::locate(const Blocks& blocks, bool at_leaf, Walk& walk) const {
  walk.lines.clear();
  walk.targets.clear();
  for (const Hop& hop : walk.path) {
    const BlockLink& link = blocks.link(hop.block);
    append_lines(walk.example, link.key, link.partition, walk.lines);
    walk.targets.push_back(&kTargets[hop.place]);
  }
  walk.at_leaf = at_leaf;
  if (at_leaf) walk.targets.back() = &kTargets[32U + walk.path.back().place];
}

void Regressors::locate_below(const BlockLink& top, bool at_leaf, Walk& walk) const {
  walk.lines.clear();
  walk.targets.clear();
  std::uint64_t key = top.key;
  for (const Hop& hop : walk.path) {
    append_lines(walk.example, key, top.partition, walk.lines);
    walk.targets.push_back(&kTargets[hop.place]);
    key = key_below(key, hop.place);
  }
  walk.at_leaf = at_leaf;
  if (at_leaf) walk.targets.back() = &kTargets[32U + walk.path.back().place];
}

void Regressors::predict(Walk& walk) const {
  const std::size_t blocks = walk.path.size();
  walk.probabilities.resize(blocks);
  compute_margins(walk.lines.data(), walk.example.values.data(), walk.example.values.size(), blocks,
                  walk.probabilities.data());
  compute_probabilities(walk.probabilities.data(), blocks, loss_, walk.probabilities.data());
}

double Regressors::hop_probability(const Walk& walk, std::size_t hop) const {
  const Line& probabilities = walk.probabilities[hop];
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

Line Regressors::block_probabilities(const ExampleView& x, const BlockLink& block, std::vector<float*>& lines) const {
  lines.clear();
  append_lines(x, block.key, block.partition, lines);
  Line probabilities;
  compute_margins(lines.data(), x.values.data(), x.values.size(), 1, &probabilities);
  compute_probabilities(&probabilities, 1, loss_, &probabilities);
  return probabilities;
}

float Regressors::weight(FeatureHash feature, const BlockLink& block, std::uint8_t slot) const {
  return weights_->line(WeightTable::index(feature, block.key, weights_->region(block.partition)))[slot];
}

double Regressors::clipped(float p) const { return std::clamp(static_cast<double>(p), clip_, 1 - clip_); }

}  // namespace cpt
