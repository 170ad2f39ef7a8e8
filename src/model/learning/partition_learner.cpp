#include "model/learning/partition_learner.h"

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
    const BlockNodes& content = tree.content(from);
    for (std::uint8_t place = 1; place < 32; ++place) {
      const PathStep at{to, place};
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

const PartitionLearner::RecentLabel* PartitionLearner::find_newcomer(LabelId label) const {
  const auto at = std::lower_bound(recent_labels_.begin(), recent_labels_.end(), label,
                                   [](const RecentLabel& a, LabelId b) { return a.label < b; });
  return at != recent_labels_.end() && at->label == label ? &*at : nullptr;
}

void PartitionLearner::forget_recent_labels(LabelId first) {
  for (; !recent_labels_.empty() && recent_labels_.front().label < first; recent_labels_.pop_front()) {
    const LabelId split = recent_labels_.front().split;
    if (split != kNoLabel) discount_moved(split);
  }
}

void PartitionLearner::count_moved(LabelId split) {
  ++splits_[split % MovedLabelFilter::kBits];
  moved_.bits_ |= MovedLabelFilter::bit_of(split);
}

void PartitionLearner::discount_moved(LabelId split) {
  if (--splits_[split % MovedLabelFilter::kBits] == 0) moved_.bits_ &= ~MovedLabelFilter::bit_of(split);
}

// The hops from the top of the partition to this place.
void PartitionLearner::climb(PathStep from, std::vector<PathStep>& path) const {
  path.assign(1, from);
  while (path.back().block != 0) {
    const BlockHeader& link = blocks_.link(path.back().block);
    path.push_back({link.parent, link.parent_place});
  }
  std::reverse(path.begin(), path.end());
}

// A label whose leaf was split is the left child of the node there.
void PartitionLearner::follow_left(std::vector<PathStep>& path) const {
  for (;;) {
    PathStep& last = path.back();
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

Child PartitionLearner::child_at_end(const PathState& path_state) const {
  return blocks_.content(path_state.path.back().block).child[path_state.path.back().place];
}

void PartitionLearner::look_up(std::span<const std::uint8_t> places, std::vector<PathStep>& path) const {
  path.clear();
  for (BlockId block = 0; const std::uint8_t place : places) {
    path.push_back({block, place});
    block = blocks_.content(block).child[place].block();
  }
}

void PartitionLearner::locate(const ExampleView& x, LabelId label, std::span<const std::uint8_t> places,
                              PathState& path_state) const {
  path_state.example = x;
  path_state.label = label;
  if (!places.empty()) {
    look_up(places, path_state.path);
  } else if (const RecentLabel* newcomer = find_newcomer(label)) {
    climb(newcomer->place, path_state.path);
  } else {
    path_state.path.assign(1, {0, 1});
  }
  follow_left(path_state.path);
  const Child end = child_at_end(path_state);
  const bool at_leaf = end.kind() == Child::Kind::kLeaf;
  if (!end.is_outside() && (!at_leaf || end.label() != label)) {
    throw Error(Fault::kFailed,
                "the path of label " + std::to_string(label) + " is lost in partition " + std::to_string(partition_));
  }
  // A leaf that gave way to a block outside is trained alike: at places beyond the slots it has no lane.
  regressors_.locate(blocks_, at_leaf, path_state);
}

PartitionResult PartitionLearner::predict(PathState& path_state) const {
  regressors_.predict(blocks_, path_state);
  PartitionResult result;
  for (std::size_t hop = 0; hop < path_state.path.size(); ++hop)
    result.probability *= regressors_.hop_probability(path_state, hop);
  if (!path_state.at_leaf) result.exit = path_state.path.back().place;
  return result;
}

PartitionResult PartitionLearner::learn(PathState& path_state) {
  const PartitionResult result = predict(path_state);
  regressors_.train(path_state);
  rows_visited_ += path_state.rows.size();
  return result;
}

PartitionLearner::InsertResult PartitionLearner::settle(const ExampleView& x, LabelId label, Settling& settling) {
  InsertResult joined;
  if (partition_ == kRootPartition && blocks_.content(0).child[1].kind() == Child::Kind::kNothing) {
    blocks_.hang({0, 1}, Child::leaf(label), 1);
    joined.result = train_newcomer(x, {label, kNoLabel, {0, 1}});
    return joined;
  }
  PathStep at{0, 1};
  Child child;
  for (;;) {
    const BlockNodes& content = blocks_.content(at.block);
    const Row p = regressors_.block_probabilities(x, blocks_, at.block, rows_);
    at.place = settle_in_block(p, content, options_, settling);
    child = content.child[at.place];
    if (child.kind() == Child::Kind::kLeaf || child.is_outside()) break;
    at = {child.block(), 1};
  }
  if (child.is_outside()) {
    blocks_.count_leaf(at);
    joined.result = train_newcomer(x, {label, kNoLabel, at});
    return joined;
  }
  joined.split = child.label();
  if (at.place > kLastSlot && blocks_.link(0).level < 2) {
    blocks_.hang(at, Child::outside(), 1);
    blocks_.count_leaf(at);
    joined.result = train_newcomer(x, {label, joined.split, at});
    return joined;
  }
  if (at.place > kLastSlot) at = {blocks_.open(at), 1};
  blocks_.split(at, joined.split, label);
  joined.result = train_newcomer(x, {label, joined.split, {at.block, static_cast<std::uint8_t>(2 * at.place + 1)}});
  return joined;
}

PartitionLearner::InsertResult PartitionLearner::open(const ExampleView& x, LabelId label, LabelId old) {
  blocks_.hang({0, 1}, Child::leaf(old), 1);
  blocks_.split({0, 1}, old, label);
  return {train_newcomer(x, {label, kNoLabel, {0, 3}}), old};
}

PartitionResult PartitionLearner::train_newcomer(const ExampleView& x, const RecentLabel& newcomer) {
  recent_labels_.push_back(newcomer);
  if (newcomer.split != kNoLabel) count_moved(newcomer.split);
  locate(x, newcomer.label, {}, path_state_);
  return learn(path_state_);
}

std::uint8_t PartitionLearner::draw(const ExampleView& x, Drawing& drawing) const {
  for (BlockId block = 0;;) {
    const BlockNodes& content = blocks_.content(block);
    const Row p = regressors_.block_probabilities(x, blocks_, block, rows_);
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
    const BlockNodes& content = blocks_.content(block);
    const BlockHeader* next_best = open.empty() ? nullptr : &blocks_.link(open.top().block);
    const Row p = regressors_.block_probabilities(x, blocks_, block, rows_, next_best);
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
