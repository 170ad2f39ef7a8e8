#include "model/learning/partition_learner.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "cpt/error.h"

namespace cpt {

namespace {

// The block of the tree at the top of the partition, if there is one yet.
std::optional<BlockId> find_top(const Tree& tree, Partition partition) {
  if (partition_level(partition) == 0) return 0;
  const std::optional<BlockId> parent = find_top(tree, partition_above(partition));
  if (!parent) return std::nullopt;
  const Child child = tree.nodes(*parent).child[top_header(partition).parent_position];
  if (child.kind() != Child::Kind::kBlock) return std::nullopt;
  return child.block();
}

// Looks for the single most probable label. A Search of Descent.
struct BestLabel {
  PartitionLearner::SearchResult& found;

  double least() const { return found.least; }
  void add_leaf(LabelId label, double probability) const {
    const bool is_better = found.label == kNoLabel || probability > found.probability ||
                           (probability == found.probability && label < found.label);
    if (!is_better) return;
    found.label = label;
    found.probability = probability;
    found.least = std::max(found.least, probability);
  }
  void add_outside(std::uint8_t exit, double probability) const { found.exits.push_back({exit, probability}); }
  // The best label of a subtree has at least the mean probability of its labels.
  void add_subtree(double probability, std::uint32_t leaves) const {
    found.least = std::max(found.least, kRoundingMargin * probability / leaves);
  }
};

}  // namespace

PartitionLearner::PartitionLearner(Partition partition, const Tree& tree, WeightTable& weights,
                                   const ModelOptions& options)
    : partition_(partition), options_(options), blocks_(top_header(partition)), regressors_(weights, options) {
  copy_blocks(tree);
}

void PartitionLearner::copy_blocks(const Tree& tree) {
  const std::optional<BlockId> top = find_top(tree, partition_);
  if (!top) return;
  std::vector<std::pair<BlockId, BlockId>> pending{{*top, 0}};  // a block of the tree and its copy
  while (!pending.empty()) {
    const auto [from, to] = pending.back();
    pending.pop_back();
    const BlockNodes& nodes = tree.nodes(from);
    for (std::uint8_t position = 1; position < 32; ++position) {
      const PathStep at{to, position};
      const Child child = nodes.child[position];
      const bool is_block = child.kind() == Child::Kind::kBlock;
      if (is_block && tree.header(child.block()).partition == partition_) {
        pending.emplace_back(child.block(), blocks_.open(at));
        blocks_.set(at, Child::block(pending.back().second), nodes.leaves[position]);
      } else {
        blocks_.set(at, is_block ? Child::outside() : child, nodes.leaves[position]);
      }
    }
  }
}

Partition PartitionLearner::below(std::uint8_t exit) const {
  return partition_below(partition_, blocks_.header(0).level, exit);
}

const PartitionLearner::RecentLabel* PartitionLearner::find_recent(LabelId label) const {
  const auto at = std::ranges::lower_bound(recent_labels_, label, {}, &RecentLabel::label);
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

// A label whose leaf was split is the left child of the node that replaced it.
void PartitionLearner::follow_left(std::vector<PathStep>& path) const {
  for (;;) {
    PathStep& last = path.back();
    const Child child = blocks_.child(last);
    if (child.kind() == Child::Kind::kNode) {
      last.position = static_cast<std::uint8_t>(2 * last.position);
    } else if (child.kind() == Child::Kind::kBlock && !child.is_outside()) {
      path.push_back({child.block(), 1});
    } else {
      return;
    }
  }
}

void PartitionLearner::look_up(std::span<const std::uint8_t> positions, std::vector<PathStep>& path) const {
  path.push_back({0, positions.front()});
  for (const std::uint8_t position : positions.subspan(1)) {
    const Child child = blocks_.child(path.back());
    if (child.kind() != Child::Kind::kBlock || child.is_outside()) {
      throw Error(Fault::kFailed, "protocol error: a path leads to a block that partition " +
                                      std::to_string(partition_) + " does not have");
    }
    path.push_back({child.block(), position});
  }
}

void PartitionLearner::locate(const ScaledExample& x, LabelId label, std::span<const std::uint8_t> positions,
                              PathState& path_state) const {
  path_state.example = x;
  path_state.label = label;
  path_state.clear_path();
  if (!positions.empty()) {
    look_up(positions, path_state.path);
  } else if (const RecentLabel* recent = find_recent(label)) {
    blocks_.append_path_to(recent->leaf, path_state.path);
  } else {
    path_state.path.assign(1, {0, 1});
  }
  follow_left(path_state.path);
  const Child end = blocks_.child(path_state.path.back());
  const bool at_leaf = end.kind() == Child::Kind::kLeaf;
  if (!end.is_outside() && (!at_leaf || end.label() != label)) {
    throw Error(Fault::kFailed,
                "the path of label " + std::to_string(label) + " is lost in partition " + std::to_string(partition_));
  }
  // A leaf that was replaced by a link to a block outside is trained alike: its position has no lane.
  regressors_.locate(blocks_, at_leaf, path_state);
}

PartitionResult PartitionLearner::predict(PathState& path_state) const {
  regressors_.predict(path_state);
  return result_of(path_state);
}

PartitionResult PartitionLearner::learn(PathState& path_state) {
  if (before_training_) before_training_(path_state);
  regressors_.learn(path_state);
  rows_visited_ += path_state.rows.size();
  return result_of(path_state);
}

PartitionResult PartitionLearner::result_of(PathState& path_state) const {
  regressors_.decode(blocks_, path_state.path.size(), path_state);
  PartitionResult result;
  result.probability = regressors_.steps_probability(path_state, 0, path_state.path.size());
  if (!path_state.at_leaf) result.exit = path_state.path.back().position;
  return result;
}

PartitionLearner::InsertResult PartitionLearner::insert(const ScaledExample& x, LabelId label, InsertionState& state) {
  if (blocks_.child({0, 1}).kind() == Child::Kind::kNothing) {  // the first label
    blocks_.set({0, 1}, Child::leaf(label), 1);
    return {train_recent(x, {label, kNoLabel, {0, 1}}), kNoLabel};
  }
  const PathStep at = Descent(x, blocks_, regressors_, rows_).insert(options_, state);
  const Child child = blocks_.child(at);
  if (child.is_outside()) {
    blocks_.count_leaf(at);
    return {train_recent(x, {label, kNoLabel, at}), kNoLabel};
  }
  const LabelId split = child.label();
  if (at.position > kLastSlot && blocks_.header(0).level < 2) {  // the node opens the partition below
    blocks_.set(at, Child::outside(), 1);
    blocks_.count_leaf(at);
    return {train_recent(x, {label, split, at}), split};
  }
  const PathStep node = blocks_.split(at, split, label);
  const PathStep leaf{node.block, static_cast<std::uint8_t>(2 * node.position + 1)};
  return {train_recent(x, {label, split, leaf}), split};
}

PartitionLearner::InsertResult PartitionLearner::open(const ScaledExample& x, LabelId label, LabelId old) {
  blocks_.set({0, 1}, Child::leaf(old), 1);
  blocks_.split({0, 1}, old, label);
  return {train_recent(x, {label, kNoLabel, {0, 3}}), old};
}

PartitionResult PartitionLearner::train_recent(const ScaledExample& x, const RecentLabel& recent) {
  recent_labels_.push_back(recent);
  if (recent.split != kNoLabel) count_moved(recent.split);
  locate(x, recent.label, {}, path_state_);
  return learn(path_state_);
}

PartitionLearner::Drawn PartitionLearner::draw(const ScaledExample& x, DrawState& state) const {
  const PathStep end = Descent(x, blocks_, regressors_, rows_).draw(state);
  const Child child = blocks_.child(end);
  return child.is_outside() ? Drawn{.exit = end.position} : Drawn{.label = child.label()};
}

PartitionLearner::SearchResult PartitionLearner::search(const ScaledExample& x, double above, double least) const {
  SearchResult found;
  found.least = least;
  BestLabel search{found};
  Descent(x, blocks_, regressors_, rows_).search(above, search);
  std::erase_if(found.exits, [&](const SearchResult::Exit& exit) { return exit.probability < found.least; });
  std::ranges::sort(found.exits, std::greater(), &SearchResult::Exit::probability);
  return found;
}

}  // namespace cpt
