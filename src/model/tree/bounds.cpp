// How the bounds on trees follow. Count nodes rather than leaves: m = n - 1 nodes stand over n leaves.
//
// Balance. A leaf joins the right side only while R < kappa N, so afterwards R - 1 < kappa (N - 1); likewise on the
// left, with <= for a tie. Only such a leaf changes a side, so a node over m nodes, itself included, has at most kappa
// m of them on either side.
//
// Total depth. It is the sum of n = m + 1 over all nodes. The sum S(m) of m over all nodes is at most m log m / H + 1
// (logarithms to base 2, H = H(kappa) <= 1), by induction over the sides a >= b, a + b = m - 1:
//   m = 1            S = 1.
//   b = 0, m > 1     m log m - a log a = m H(a / m) >= m H, for 1/2 <= a / m <= kappa. This pays for S(m) = m + S(a).
//   b > 0, 2 a >= m  m log m - a log a - b log b = m H(a / m) + (b + 1) H(1 / (b + 1)) >= m H + 2. This pays for
//                    S(m) = m + S(a) + S(b) and the second 1 of the sides' bounds.
//   b > 0, 2 a < m   a = b, and the same is m - 1 + m log m - 2 a log 2 a >= m + 1.
//
// Disagreements. A label passes d nodes when it splits a leaf of depth d, and adds d + 2 to the total depth: all labels
// together pass total depth - 2 (n - 1) nodes. For alpha < 1 a disagreement needs a balance that outweighs a
// preference, so the label goes to the side with strictly fewer leaves, and the smaller side, which begins with one
// leaf, grows by one. So a node sees at most min(L, R) - 1 of them; and min(L, R) <= n / 2 H(L / n), which adds up to
// n / 2 log n over all nodes.
#include "model/tree/bounds.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

namespace cpt {

namespace {

// 1 / kappa - 1: kappa itself is 1 to the last bit for small alpha.
double excess(double alpha) { return std::exp2(1 - 1 / alpha); }

double entropy_of_kappa(double alpha) {
  const double e = excess(alpha);
  return std::log1p(e) / std::log(2) + e / (1 + e) * (1 / alpha - 1);
}

double square(double x) { return x * x; }

class InvariantChecker {
 public:
  InvariantChecker(const Tree& tree, const ModelOptions& options)
      : tree_(tree), options_(options), leaf_seen_(tree.labels()), block_seen_(tree.blocks()) {}

  std::string find_violation() {
    check_blocks();
    for (LabelId label = 0; label < tree_.labels(); ++label) {
      if (!leaf_seen_[label]) fail("label " + std::to_string(label) + " has no leaf");
    }
    for (BlockId block = 0; block < tree_.blocks(); ++block) {
      if (!block_seen_[block]) fail("block " + std::to_string(block) + " is not linked");
    }
    if (tree_.nodes(0).leaves[1] != tree_.labels()) fail("the root does not count every label");
    check_depth();
    return first_;
  }

 private:
  void fail(const std::string& what) {
    if (first_.empty()) first_ = what;
  }

  void fail_at(BlockId block, std::uint32_t position, const std::string& what) {
    fail("block " + std::to_string(block) + " position " + std::to_string(position) + ": " + what);
  }

  void check_blocks() {
    block_seen_[0] = true;
    for (BlockId block = 0; block < tree_.blocks(); ++block) {
      check_header(block);
      for (std::uint32_t position = 1; position < 32; ++position) check_position(block, position);
    }
  }

  void check_header(BlockId block) {
    const BlockHeader& header = tree_.header(block);
    if (header.key % 2 == 0 || !keys_.insert(header.key).second)
      fail("block " + std::to_string(block) + " has a bad key");
    if (block == 0) {
      if (partition_level(header.partition) != 0) fail("block 0 is not in the partition of a root");
      return;
    }
    if (header.parent >= block || header.parent_position < 16)
      return fail("block " + std::to_string(block) + " has a bad parent");
    const BlockHeader& parent = tree_.header(header.parent);
    if (tree_.nodes(header.parent).child[header.parent_position] != Child::block(block)) {
      fail("block " + std::to_string(block) + " is not linked from its parent");
    }
    if (header.partition != partition_below(parent.partition, parent.level, header.parent_position)) {
      fail("block " + std::to_string(block) + " is in the wrong partition");
    }
  }

  void check_position(BlockId block, std::uint32_t position) {
    const BlockNodes& nodes = tree_.nodes(block);
    const Child child = nodes.child[position];
    const bool parent_is_node = position == 1 || nodes.child[position / 2].kind() == Child::Kind::kNode;
    if (parent_is_node != (child.kind() != Child::Kind::kNothing) && !tree_.empty()) {
      fail_at(block, position, "a node without two children, or a child without a node");
    }
    switch (child.kind()) {
      case Child::Kind::kNothing:
        if (nodes.leaves[position] != 0) fail_at(block, position, "counts leaves at an empty position");
        break;
      case Child::Kind::kNode:
        check_node(block, position);
        break;
      case Child::Kind::kLeaf:
        check_leaf(block, position);
        break;
      case Child::Kind::kBlock:
        if (position < 16) fail_at(block, position, "a link to a block from a slot");
        if (child.block() >= tree_.blocks()) return fail_at(block, position, "a link to a block that does not exist");
        if (block_seen_[child.block()]) fail_at(block, position, "a second link to the same block");
        block_seen_[child.block()] = true;
        if (nodes.leaves[position] != tree_.nodes(child.block()).leaves[1]) fail_at(block, position, "wrong count");
        break;
    }
  }

  void check_node(BlockId block, std::uint32_t position) {
    if (position > 15) return fail_at(block, position, "a node beyond the last slot");
    const BlockNodes& nodes = tree_.nodes(block);
    const std::size_t first = std::size_t{2} * position;
    const std::uint32_t left = nodes.leaves[first];
    const std::uint32_t right = nodes.leaves[first + 1];
    if (nodes.leaves[position] != left + right) fail_at(block, position, "wrong count");
    if (!options_.bounds_shape()) return;
    const double k = kappa(options_.effective_alpha());
    // The claim is about exact numbers; kappa and the logarithm of the rule may be off in their last bits.
    if (std::max(left, right) > k * (left + right) + (1 - k) + 1e-9) fail_at(block, position, "out of balance");
  }

  void check_leaf(BlockId block, std::uint32_t position) {
    const LabelId label = tree_.nodes(block).child[position].label();
    if (label >= tree_.labels() || leaf_seen_[label])
      return fail_at(block, position, "a leaf of no label or a second one");
    leaf_seen_[label] = true;
    const PathStep leaf = tree_.leaf(label);
    if (leaf.block != block || leaf.position != position)
      fail_at(block, position, "the tree records this label elsewhere");
    if (tree_.nodes(block).leaves[position] != 1) fail_at(block, position, "a leaf that does not count one");
  }

  void check_depth() {
    if (!options_.bounds_shape() || tree_.empty()) return;
    std::uint32_t deepest = 0;
    for (LabelId label = 0; label < tree_.labels(); ++label) deepest = std::max(deepest, tree_.depth(label));
    if (deepest > depth_bound(tree_.labels(), options_.effective_alpha())) fail("the tree is deeper than its bound");
  }

  const Tree& tree_;
  const ModelOptions& options_;
  std::vector<bool> leaf_seen_;
  std::vector<bool> block_seen_;
  std::unordered_set<std::uint64_t> keys_;
  std::string first_;
};

}  // namespace

double kappa(double alpha) { return 1 / (1 + excess(alpha)); }

double depth_bound(std::uint64_t labels, double alpha) {
  if (labels <= 1) return 2;
  return std::log(static_cast<double>(labels)) / std::log1p(excess(alpha)) + 2;
}

double total_depth_bound(std::uint64_t labels, double alpha) {
  if (labels <= 1) return 0;
  if (labels == 2) return 2;
  const auto nodes = static_cast<double>(labels - 1);
  return nodes * std::log2(nodes) / entropy_of_kappa(alpha) + nodes + 1;
}

double disagreement_bound(std::uint64_t labels, double alpha) {
  if (labels <= 1) return 0;
  const auto n = static_cast<double>(labels);
  if (alpha >= 1) return total_depth_bound(labels, alpha) - 2 * (n - 1);
  return n / 2 * std::log2(n) - (n - 1);
}

double squared_error_bound(double depth, double mean_square) { return square(depth) * mean_square; }

double pecoc_bound(double labels, double mean_square) { return 4 * square((labels - 1) / labels) * mean_square; }

double normalized_pecoc_bound(double labels, double mean_square) { return (labels - 1) * mean_square; }

double k_way_bound(double k, double depth, double mean_square) {
  return squared_error_bound(depth, pecoc_bound(k, mean_square));
}

std::string find_invariant_violation(const Tree& tree, const ModelOptions& options) {
  return InvariantChecker(tree, options).find_violation();
}

}  // namespace cpt
