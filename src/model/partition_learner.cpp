#include "model/partition_learner.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "cpt/error.h"

namespace cpt {

namespace {

// Probabilities multiplied in another order differ in the last bits.
constexpr double kRoundingMargin = 0.999;

// The block of the tree that is on top of the partition, if there is one yet.
std::optional<BlockId> find_top(const Tree& tree, Partition partition) {
  if (partition == kRootPartition) return 0;
  const std::optional<BlockId> parent = find_top(tree, partition_above(partition));
  if (!parent) return std::nullopt;
  const Child child = tree.content(*parent).child[top_link(partition).parent_place];
  if (child.kind() != Child::Kind::kBlock) return std::nullopt;
  return child.block();
}

}  // namespace

PartitionLearner::PartitionLearner(Partition partition, const Tree& tree, WeightTable& weights,
                                   const ModelOptions& options)
    : partition_(partition), options_(options), blocks_(top_link(partition)), regressors_(weights, options) {
  adopt(tree);
}

void PartitionLearner::adopt(const Tree& tree) {
  const std::optional<BlockId> top = find_top(tree, partition_);
  if (!top) return;
  std::vector<std::pair<BlockId, BlockId>> pending{{*top, 0}};  // a block of the tree and the same one here
  while (!pending.empty()) {
    const auto [from, to] = pending.back();
    pending.pop_back();
    const BlockContent& content = tree.content(from);
    for (std::uint8_t place = 1; place < 32; ++place) {
      const Hop at{to, place};
      const Child child = content.child[place];
      const bool is_block = child.kind() == Child::Kind::kBlock;
      if (is_block && tree.link(child.block()).partition == partition_) {
        pending.emplace_back(child.block(), blocks_.open(at));
        blocks_.hang(at, Child::block(pending.back().second), content.leaves[place]);
      } else {
        blocks_.hang(at, is_block ? Child::outside() : child, content.leaves[place]);
      }
    }
  }
}

Partition PartitionLearner::below(std::uint8_t exit) const {
  return partition_below(partition_, blocks_.link(0).level, exit);
}

const PartitionLearner::Newcomer* PartitionLearner::find_newcomer(LabelId label) const {
  const auto at = std::lower_bound(newcomers_.begin(), newcomers_.end(), label,
                                   [](const Newcomer& a, LabelId b) { return a.label < b; });
  return at != newcomers_.end() && at->label == label ? &*at : nullptr;
}

void PartitionLearner::forget_newcomers(LabelId first) {
  for (; !newcomers_.empty() && newcomers_.front().label < first; newcomers_.pop_front()) {
    const LabelId split = newcomers_.front().split;
    if (split != kNoLabel) discount_moved(split);
  }
}

void PartitionLearner::count_moved(LabelId split) {
  ++splits_[split % Moved::kBits];
  moved_.bits_ |= Moved::bit_of(split);
}

void PartitionLearner::discount_moved(LabelId split) {
  if (--splits_[split % Moved::kBits] == 0) moved_.bits_ &= ~Moved::bit_of(split);
}

// The hops from the top of the partition to this place.
void PartitionLearner::climb(Hop from, std::vector<Hop>& path) const {
  path.assign(1, from);
  while (path.back().block != 0) {
    const BlockLink& link = blocks_.link(path.back().block);
    path.push_back({link.parent, link.parent_place});
  }
  std::reverse(path.begin(), path.end());
}

// A label whose leaf was split is the left child of the node there.
void PartitionLearner::follow_left(std::vector<Hop>& path) const {
  for (;;) {
    Hop& last = path.back();
    const Child child = blocks_.content(last.block).child[last.place];
    if (child.kind() == Child::Kind::kNode) {
      last.place = static_cast<std::uint8_t>(2 * last.place);
    } else if (child.kind() == Child::Kind::kBlock && !child.is_outside()) {
      path.push_back({child.block(), 1});
    } else {
      return;
    }
  }
}

Child PartitionLearner::child_at_end(const Walk& walk) const {
  return blocks_.content(walk.path.back().block).child[walk.path.back().place];
}

void PartitionLearner::look_up(std::span<const std::uint8_t> places, std::vector<Hop>& path) const {
  path.clear();
  for (BlockId block = 0; const std::uint8_t place : places) {
    path.push_back({block, place});
    block = blocks_.content(block).child[place].block();
  }
}

void PartitionLearner::locate(const ExampleView& x, LabelId label, std::span<const std::uint8_t> places,
                              Walk& walk) const {
  walk.example = x;
  walk.label = label;
  if (!places.empty()) {
    look_up(places, walk.path);
  } else if (const Newcomer* newcomer = find_newcomer(label)) {
    climb(newcomer->place, walk.path);
  } else {
    walk.path.assign(1, {0, 1});
  }
  follow_left(walk.path);
  const Child end = child_at_end(walk);
  const bool at_leaf = end.kind() == Child::Kind::kLeaf;
  if (!end.is_outside() && (!at_leaf || end.label() != label)) {
    throw Error(Fault::kFailed,
                "the path of label " + std::to_string(label) + " is lost in partition " + std::to_string(partition_));
  }
  // A leaf that gave way to a block outside is trained alike: at places beyond the slots it has no lane.
  regressors_.locate(blocks_, at_leaf, walk);
}

Passage PartitionLearner::predict(Walk& walk) const {
  regressors_.predict(blocks_, walk);
  Passage passage;
  for (std::size_t hop = 0; hop < walk.path.size(); ++hop)
    passage.probability *= regressors_.hop_probability(walk, hop);
  if (!walk.at_leaf) passage.exit = walk.path.back().place;
  return passage;
}

Passage PartitionLearner::learn(Walk& walk) {
  const Passage passage = predict(walk);
  regressors_.train(walk);
  lines_visited_ += walk.lines.size();
  return passage;
}

PartitionLearner::Joined PartitionLearner::settle(const ExampleView& x, LabelId label, Settling& settling) {
  Joined joined;
  if (partition_ == kRootPartition && blocks_.content(0).child[1].kind() == Child::Kind::kNothing) {
    blocks_.hang({0, 1}, Child::leaf(label), 1);
    joined.passage = train_newcomer(x, {label, kNoLabel, {0, 1}});
    return joined;
  }
  Hop at{0, 1};
  Child child;
  for (;;) {
    const BlockContent& content = blocks_.content(at.block);
    const Line p = regressors_.block_probabilities(x, blocks_, at.block, lines_);
    at.place = settle_in_block(p, content, options_, settling);
    child = content.child[at.place];
    if (child.kind() == Child::Kind::kLeaf || child.is_outside()) break;
    at = {child.block(), 1};
  }
  if (child.is_outside()) {
    blocks_.count_leaf(at);
    joined.passage = train_newcomer(x, {label, kNoLabel, at});
    return joined;
  }
  joined.split = child.label();
  if (at.place > kLastSlot && blocks_.link(0).level < 2) {
    blocks_.hang(at, Child::outside(), 1);
    blocks_.count_leaf(at);
    joined.passage = train_newcomer(x, {label, joined.split, at});
    return joined;
  }
  if (at.place > kLastSlot) at = {blocks_.open(at), 1};
  blocks_.split(at, joined.split, label);
  joined.passage = train_newcomer(x, {label, joined.split, {at.block, static_cast<std::uint8_t>(2 * at.place + 1)}});
  return joined;
}

PartitionLearner::Joined PartitionLearner::open(const ExampleView& x, LabelId label, LabelId old) {
  blocks_.hang({0, 1}, Child::leaf(old), 1);
  blocks_.split({0, 1}, old, label);
  return {train_newcomer(x, {label, kNoLabel, {0, 3}}), old};
}

Passage PartitionLearner::train_newcomer(const ExampleView& x, const Newcomer& newcomer) {
  newcomers_.push_back(newcomer);
  if (newcomer.split != kNoLabel) count_moved(newcomer.split);
  locate(x, newcomer.label, {}, walk_);
  return learn(walk_);
}

std::uint8_t PartitionLearner::draw(const ExampleView& x, Drawing& drawing) const {
  for (BlockId block = 0;;) {
    const BlockContent& content = blocks_.content(block);
    const Line p = regressors_.block_probabilities(x, blocks_, block, lines_);
    const std::uint8_t place = draw_in_block(p, content, regressors_, drawing);
    const Child child = content.child[place];
    if (child.kind() == Child::Kind::kLeaf) return 0;
    if (child.is_outside()) return place;
    block = child.block();
  }
}

PartitionLearner::Found PartitionLearner::search(const ExampleView& x, double above, double least) const {
  struct Open {
    double probability;
    BlockId block;
    bool operator<(const Open& other) const { return probability < other.probability; }
  };
  Found found;
  found.least = least;
  std::priority_queue<Open> open;
  open.push({above, 0});
  while (!open.empty() && open.top().probability >= found.least) {
    const auto [reach, block] = open.top();
    open.pop();
    const BlockContent& content = blocks_.content(block);
    const BlockLink* next_best = open.empty() ? nullptr : &blocks_.link(open.top().block);
    const Line p = regressors_.block_probabilities(x, blocks_, block, lines_, next_best);
    reach_in_block(p, content, regressors_, reach, found.least, [&](std::uint8_t place, double probability) {
      const Child child = content.child[place];
      if (child.kind() == Child::Kind::kBlock) {
        if (child.is_outside()) {
          found.ways.push_back({place, probability});
        } else {
          open.push({probability, child.block()});
        }
        // The best label of a subtree has at least the mean of all.
        found.least = std::max(found.least, kRoundingMargin * probability / content.leaves[place]);
      } else if (found.label == kNoLabel || probability > found.probability ||
                 (probability == found.probability && child.label() < found.label)) {
        found.label = child.label();
        found.probability = probability;
        found.least = std::max(found.least, probability);
      }
    });
  }
  std::erase_if(found.ways, [&](const Found::Way& way) { return way.probability < found.least; });
  std::ranges::sort(found.ways, std::greater(), &Found::Way::probability);
  return found;
}

}  // namespace cpt
