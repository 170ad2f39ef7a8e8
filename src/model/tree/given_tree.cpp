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

const char* text_of(NoTree::Flaw flaw) {
  switch (flaw) {
    case NoTree::Flaw::kSamePlace:
      return "two leaves are at the same place";
    case NoTree::Flaw::kBelowLeaf:
      return "a leaf is below another one";
    case NoTree::Flaw::kOneChild:
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

// From `begin` on the path turns to one side only: else nothing hangs on the other one.
void require_outermost(std::span<const std::string_view> paths, std::uint32_t leaf, std::size_t begin, char side) {
  const char other = side == '0' ? '1' : '0';
  const std::size_t turn = paths[leaf].find(other, begin);
  if (turn != std::string_view::npos) throw NoTree(leaf, std::string(paths[leaf].substr(0, turn)) + side);
}

// Two neighbors part at a node: the left one is rightmost left of it, the right one leftmost right of it. Returns the
// depth of the node.
std::size_t parting(std::span<const std::string_view> paths, std::uint32_t left, std::uint32_t right) {
  const std::size_t depth = common_length(paths[left], paths[right]);
  if (depth == paths[right].size()) throw NoTree(NoTree::Flaw::kSamePlace, right, left);
  if (depth == paths[left].size()) throw NoTree(NoTree::Flaw::kBelowLeaf, right, left);
  require_outermost(paths, left, depth + 1, '1');
  require_outermost(paths, right, depth + 1, '0');
  return depth;
}

// Which leaf splits which, and what can come only after it, by leaf.
struct Splits {
  explicit Splits(std::size_t leaves) : old(leaves, kNoLeaf), first(leaves, kNoLeaf), next(leaves, kNoLeaf) {}

  std::vector<std::uint32_t> old;    // the leaf that it splits
  std::vector<std::uint32_t> first;  // the first that splits it
  std::vector<std::uint32_t> next;   // the one that splits the same leaf after it
};

// A leaf is the leftmost of the subtree in which it joins; those in which leaves to the left of the next one joined,
// and of which some is still to come, are on a stack.
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
    splits.next[leaf] = std::exchange(splits.first[old], leaf);  // deeper nodes were met before, and are made after
    open.push_back({leaf, depth + 1});
  }
  return splits;
}

}  // namespace

NoTree::NoTree(Flaw flaw, std::size_t leaf, std::size_t other)
    : Error(Fault::kBadData, text_of(flaw)), flaw_(flaw), leaf_(leaf), other_(other) {}

NoTree::NoTree(std::size_t leaf, std::string missing)
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

}  // namespace cpt
