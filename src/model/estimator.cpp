#include "model/estimator.h"

#include <algorithm>
#include <array>
#include <cmath>

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

Estimator::Estimator(const Tree& tree, WeightTable& weights, const ModelOptions& options)
    : tree_(&tree),
      weights_(&weights),
      loss_(options.loss),
      update_(options.update),
      rate_(static_cast<float>(options.learning_rate)),
      clip_(options.clip) {}

void Estimator::append_lines(const ExampleView& x, BlockId block, std::vector<float*>& lines) const {
  const BlockLink& link = tree_->link(block);
  const Region& region = weights_->region(link.partition);
  const std::size_t begin = lines.size();
  lines.resize(begin + x.features.size());
  float** out = lines.data() + begin;
  for (std::size_t f = 0; f < x.features.size(); ++f) {
    out[f] = weights_->line(WeightTable::index(x.features[f], link.key, region));
    __builtin_prefetch(out[f], 1, 3);
  }
}

void Estimator::locate(const ExampleView& x, LabelId label, Walk& walk) const {
  walk.example = x;
  walk.label = label;
  tree_->path(label, walk.path);
  walk.lines.clear();
  walk.targets.clear();
  for (const Hop& hop : walk.path) {
    append_lines(x, hop.block, walk.lines);
    walk.targets.push_back(&kTargets[hop.place]);
  }
  walk.targets.back() = &kTargets[32U + walk.path.back().place];
}

bool Estimator::stands(const Walk& walk) const {
  const Hop leaf = tree_->leaf(walk.label);
  return leaf.block == walk.path.back().block && leaf.place == walk.path.back().place;
}

double Estimator::clipped(float p) const { return std::clamp(static_cast<double>(p), clip_, 1 - clip_); }

double Estimator::hop_probability(const Line& probabilities, std::uint8_t place) const {
  double product = 1;
  for (std::uint32_t at = place; at > 1; at /= 2) {
    const double p = clipped(probabilities[at / 2]);
    product *= at % 2 == 1 ? p : 1 - p;
  }
  return product;
}

double Estimator::predict(Walk& walk) const {
  const std::size_t blocks = walk.path.size();
  walk.probabilities.resize(blocks);
  compute_margins(walk.lines.data(), walk.example.values.data(), walk.example.values.size(), blocks,
                  walk.probabilities.data());
  compute_probabilities(walk.probabilities.data(), blocks, loss_, walk.probabilities.data());
  // The hops of one partition are multiplied with one another first: then the product is the same, to the last bit,
  // where each partition's part is computed somewhere else.
  double shallow = 1;
  double deep = 1;
  for (std::size_t b = 0; b < blocks; ++b) {
    (b < 2 ? shallow : deep) *= hop_probability(walk.probabilities[b], walk.path[b].place);
  }
  return shallow * deep;
}

void Estimator::train(Walk& walk) {
  const std::size_t blocks = walk.path.size();
  const ExampleView& x = walk.example;
  walk.errors.resize(blocks);
  const auto scale = static_cast<float>(static_cast<double>(x.importance) / x.squared_length());
  compute_errors(walk.probabilities.data(), walk.targets.data(), blocks, scale, walk.errors.data());
  update_lines(walk.lines.data(), x.values.data(), x.values.size(), blocks, walk.errors.data(), update_, rate_);
}

Line Estimator::block_probabilities(const ExampleView& x, BlockId block, std::vector<float*>& lines) const {
  lines.clear();
  append_lines(x, block, lines);
  Line probabilities;
  compute_margins(lines.data(), x.values.data(), x.values.size(), 1, &probabilities);
  compute_probabilities(&probabilities, 1, loss_, &probabilities);
  return probabilities;
}

float Estimator::weight(FeatureHash feature, BlockId block, std::uint8_t slot) const {
  const BlockLink& link = tree_->link(block);
  return weights_->line(WeightTable::index(feature, link.key, weights_->region(link.partition)))[slot];
}

}  // namespace cpt
