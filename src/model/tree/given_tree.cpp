#include "model/tree/given_tree.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

#include "core/checked.h"

namespace cpt {

namespace {

constexpr std::uint32_t kNoLeaf = 0xffffffffU;

const char* text_of(InvalidTree::Flaw flaw) {
  switch (flaw) {
    case InvalidTree::Flaw::kSamePath:
      return "two leaves have the same path";
    case InvalidTree::Flaw::kBelowLeaf:
      return "a leaf is below another one";
    case InvalidTree::Flaw::kOneChild:
      break;
  }
  return "a node has one child";
}

std::vector<std::uint32_t> from_left_to_right(std::span<const std::string_view> paths) {
  std::vector<std::uint32_t> leaves(narrow<std::uint32_t>(paths.size(), "number of leaves"));
  std::iota(leaves.begin(), leaves.end(), 0U);
  std::ranges::sort(leaves, {}, [&](std::uint32_t leaf) { return std::pair(paths[leaf], leaf); });
  return leaves;
}

std::size_t common_length(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

// Throws if the path turns to the other side from depth `begin` on: nothing would hang on `side` of that node.
void require_outermost(std::span<const std::string_view> paths, std::uint32_t leaf, std::size_t begin, char side) {
  const char other = side == '0' ? '1' : '0';
  const std::size_t turn = paths[leaf].find(other, begin);
  if (turn != std::string_view::npos) throw InvalidTree(leaf, std::string(paths[leaf].substr(0, turn)) + side);
}

// The depth of the node where the paths of two neighboring leaves part. The left leaf must be the rightmost one on the
// left of that node, and the right leaf the leftmost one on its right.
std::size_t parting(std::span<const std::string_view> paths, std::uint32_t left, std::uint32_t right) {
  const std::size_t depth = common_length(paths[left], paths[right]);
  if (depth == paths[right].size()) throw InvalidTree(InvalidTree::Flaw::kSamePath, right, left);
  if (depth == paths[left].size()) throw InvalidTree(InvalidTree::Flaw::kBelowLeaf, right, left);
  require_outermost(paths, left, depth + 1, '1');
  require_outermost(paths, right, depth + 1, '0');
  return depth;
}

// By leaf: the leaf that it splits, and the leaves that can be added after it.
struct Splits {
  explicit Splits(std::size_t leaves) : old(leaves, kNoLeaf), first(leaves, kNoLeaf), next(leaves, kNoLeaf) {}

  std::vector<std::uint32_t> old;    // the leaf that this one splits
  std::vector<std::uint32_t> first;  // the first leaf that splits this one
  std::vector<std::uint32_t> next;   // the next leaf that splits the same leaf as this one
};

// A leaf is the leftmost one of the subtree that is made with it. The stack holds the subtrees of leaves further to the
// left that still have leaves to come.
Splits splits_between(std::span<const std::string_view> paths, std::span<const std::uint32_t> leaves) {
  struct Subtree {
    std::uint32_t leftmost;
    std::size_t depth;
  };
  Splits splits(paths.size());
  std::vector<Subtree> open{{leaves[0], 0}};
  for (std::size_t i = 1; i < leaves.size(); ++i) {
    const std::uint32_t leaf = leaves[i];
    const std::size_t depth = parting(paths, leaves[i - 1], leaf);
    while (open.back().depth > depth) open.pop_back();
    const std::uint32_t old = open.back().leftmost;
    splits.old[leaf] = old;
    splits.next[leaf] = std::exchange(splits.first[old], leaf);  // deeper nodes are met first but made last
    open.push_back({leaf, depth + 1});
  }
  return splits;
}

// Builds Huffman's tree. Subtrees are numbered in the order of their creation: the leaves by weight, then merged ones,
// whose weights only grow. So the lightest subtree is the first remaining leaf or the first remaining merged one.
class HuffmanTree {
 public:
  explicit HuffmanTree(std::vector<std::uint64_t> leaf_weights)
      : leaves_(leaf_weights.size()), weights_(std::move(leaf_weights)), next_merged_(leaves_) {
    parents_.resize(2 * leaves_ - 1);
    sides_.resize(2 * leaves_ - 1);
    while (weights_.size() < 2 * leaves_ - 1) merge();
  }

  std::string path(std::size_t leaf) const {
    std::string path;
    for (std::size_t at = leaf; at != weights_.size() - 1; at = parents_[at]) path += sides_[at];
    std::ranges::reverse(path);
    return path;
  }

 private:
  void merge() {
    const std::size_t lighter = take();
    const std::size_t heavier = take();
    sides_[lighter] = '1';
    sides_[heavier] = '0';
    parents_[lighter] = parents_[heavier] = weights_.size();
    weights_.push_back(weights_[lighter] + weights_[heavier]);
  }

  std::size_t take() {
    const bool is_leaf =
        next_merged_ == weights_.size() || (next_leaf_ < leaves_ && weights_[next_leaf_] <= weights_[next_merged_]);
    return is_leaf ? next_leaf_++ : next_merged_++;
  }

  std::size_t leaves_;
  std::vector<std::uint64_t> weights_;
  std::size_t next_leaf_ = 0;
  std::size_t next_merged_;
  std::vector<std::size_t> parents_;
  std::vector<char> sides_;
};

}  // namespace

InvalidTree::InvalidTree(Flaw flaw, std::size_t leaf, std::size_t other)
    : Error(Fault::kBadData, text_of(flaw)), flaw_(flaw), leaf_(leaf), other_(other) {}

InvalidTree::InvalidTree(std::size_t leaf, std::string missing)
    : Error(Fault::kBadData, text_of(Flaw::kOneChild)),
      flaw_(Flaw::kOneChild),
      leaf_(leaf),
      missing_(std::move(missing)) {}

std::vector<LeafSplit> leaf_splits_of(std::span<const std::string_view> paths) {
  std::vector<LeafSplit> leaf_splits;
  if (paths.empty()) return leaf_splits;
  const std::vector<std::uint32_t> leaves = from_left_to_right(paths);
  require_outermost(paths, leaves.front(), 0, '0');
  const Splits splits = splits_between(paths, leaves);
  require_outermost(paths, leaves.back(), 0, '1');

  std::vector<LabelId> labels(paths.size(), kNoLabel);
  std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
  ready.push(leaves.front());
  while (!ready.empty()) {
    const std::uint32_t leaf = ready.top();
    ready.pop();
    labels[leaf] = static_cast<LabelId>(leaf_splits.size());
    const std::uint32_t old = splits.old[leaf];
    leaf_splits.push_back({leaf, old == kNoLeaf ? kNoLabel : labels[old]});
    for (const std::uint32_t after : {splits.first[leaf], splits.next[leaf]}) {
      if (after != kNoLeaf) ready.push(after);
    }
  }
  return leaf_splits;
}

std::vector<std::string> huffman_paths(std::span<const std::uint64_t> counts) {
  std::vector<std::string> paths(counts.size());
  if (counts.empty()) return paths;
  std::vector<std::size_t> by_weight(counts.size());
  std::iota(by_weight.begin(), by_weight.end(), std::size_t{0});
  std::ranges::stable_sort(by_weight, {}, [&](std::size_t leaf) { return counts[leaf]; });
  std::vector<std::uint64_t> weights;
  for (const std::size_t leaf : by_weight) weights.push_back(counts[leaf]);
  const HuffmanTree tree(std::move(weights));
  for (std::size_t i = 0; i < by_weight.size(); ++i) paths[by_weight[i]] = tree.path(i);
  return paths;
}

}  // namespace cpt
