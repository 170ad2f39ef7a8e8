#include "model/learning/invariants.h"

#include <algorithm>
#include <unordered_set>

#include "model/learning/bounds.h"

namespace cpt {

namespace {

class Checker {
 public:
  Checker(const Tree& tree, const ModelOptions& options)
      : tree_(tree), options_(options), leaf_seen_(tree.labels()), block_seen_(tree.blocks()) {}

  std::string run() {
    check_blocks();
    for (LabelId label = 0; label < tree_.labels(); ++label) {
      if (!leaf_seen_[label]) fail("label " + std::to_string(label) + " has no leaf");
    }
    for (BlockId block = 0; block < tree_.blocks(); ++block) {
      if (!block_seen_[block]) fail("block " + std::to_string(block) + " hangs nowhere");
    }
    if (tree_.content(0).leaves[1] != tree_.labels()) fail("the root does not count every label");
    check_depth();
    return first_;
  }

 private:
  void fail(const std::string& what) {
    if (first_.empty()) first_ = what;
  }

  void fail_at(BlockId block, std::uint32_t place, const std::string& what) {
    fail("block " + std::to_string(block) + " place " + std::to_string(place) + ": " + what);
  }

  void check_blocks() {
    block_seen_[0] = true;
    for (BlockId block = 0; block < tree_.blocks(); ++block) {
      check_link(block);
      for (std::uint32_t place = 1; place < 32; ++place) check_place(block, place);
    }
  }

  void check_link(BlockId block) {
    const BlockHeader& link = tree_.link(block);
    if (link.key % 2 == 0 || !keys_.insert(link.key).second) fail("block " + std::to_string(block) + " has a bad key");
    if (block == 0) {
      if (link.partition != kRootPartition) fail("block 0 is not in the root partition");
      return;
    }
    if (link.parent >= block || link.parent_place < 16)
      return fail("block " + std::to_string(block) + " has a bad parent");
    const BlockHeader& parent = tree_.link(link.parent);
    if (tree_.content(link.parent).child[link.parent_place] != Child::block(block)) {
      fail("block " + std::to_string(block) + " is not where it says it hangs");
    }
    if (link.partition != partition_below(parent.partition, parent.level, link.parent_place)) {
      fail("block " + std::to_string(block) + " is in the wrong partition");
    }
  }

  void check_place(BlockId block, std::uint32_t place) {
    const BlockNodes& content = tree_.content(block);
    const Child child = content.child[place];
    const bool parent_is_node = place == 1 || content.child[place / 2].kind() == Child::Kind::kNode;
    if (parent_is_node != (child.kind() != Child::Kind::kNothing) && !tree_.empty()) {
      fail_at(block, place, "a node without two children, or a child without a node");
    }
    switch (child.kind()) {
      case Child::Kind::kNothing:
        if (content.leaves[place] != 0) fail_at(block, place, "counts leaves where nothing hangs");
        break;
      case Child::Kind::kNode:
        check_node(block, place);
        break;
      case Child::Kind::kLeaf:
        check_leaf(block, place);
        break;
      case Child::Kind::kBlock:
        if (place < 16) fail_at(block, place, "a block where a slot fits");
        if (child.block() >= tree_.blocks()) return fail_at(block, place, "a block that does not exist");
        if (block_seen_[child.block()]) fail_at(block, place, "a block that hangs elsewhere too");
        block_seen_[child.block()] = true;
        if (content.leaves[place] != tree_.content(child.block()).leaves[1]) fail_at(block, place, "wrong count");
        break;
    }
  }

  void check_node(BlockId block, std::uint32_t place) {
    if (place > 15) return fail_at(block, place, "a node beyond the last slot");
    const BlockNodes& content = tree_.content(block);
    const std::size_t first = std::size_t{2} * place;
    const std::uint32_t left = content.leaves[first];
    const std::uint32_t right = content.leaves[first + 1];
    if (content.leaves[place] != left + right) fail_at(block, place, "wrong count");
    if (!options_.bounds_shape()) return;
    const double k = kappa(options_.effective_alpha());
    // The claim in exact arithmetic; the last bits of kappa and of the rule's logarithm may be off.
    if (std::max(left, right) > k * (left + right) + (1 - k) + 1e-9) fail_at(block, place, "out of balance");
  }

  void check_leaf(BlockId block, std::uint32_t place) {
    const LabelId label = tree_.content(block).child[place].label();
    if (label >= tree_.labels() || leaf_seen_[label])
      return fail_at(block, place, "a leaf of no label or a second one");
    leaf_seen_[label] = true;
    const PathStep leaf = tree_.leaf(label);
    if (leaf.block != block || leaf.place != place) fail_at(block, place, "its label is recorded elsewhere");
    if (tree_.content(block).leaves[place] != 1) fail_at(block, place, "a leaf that does not count one");
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

std::string find_invariant_violation(const Tree& tree, const ModelOptions& options) {
  return Checker(tree, options).run();
}

}  // namespace cpt
