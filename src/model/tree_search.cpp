#include <queue>

#include "model/block_steps.h"
#include "model/tree_estimator.h"

namespace cpt {

namespace {

// A subtree that has been reached but not yet opened, or a leaf.
struct Frontier {
  double probability;
  Child child;

  // Of the same probability, blocks come before leaves (one of theirs may have a lower id), then lower ids before
  // higher.
  bool operator<(const Frontier& other) const {
    if (probability != other.probability) return probability < other.probability;
    const bool leaf = child.kind() == Child::Kind::kLeaf;
    const bool other_leaf = other.child.kind() == Child::Kind::kLeaf;
    if (leaf != other_leaf) return leaf > other_leaf;
    return child.label() > other.child.label();
  }
};

}  // namespace

// Calls visit(child, probability) for every leaf and block that hangs in `block`, whose own probability is `above`.
template <class Visit>
void TreeEstimator::open_block(const ExampleView& x, BlockId block, double above, std::vector<float*>& lines,
                               Visit visit) const {
  const BlockContent& content = tree_->content(block);
  const Line p = block_probabilities(x, block, lines);
  reach_in_block(p, content, regressors_, above,
                 [&](std::uint8_t place, double probability) { visit(content.child[place], probability); });
}

std::vector<Ranked> TreeEstimator::top_k(const ExampleView& x, std::size_t k, double threshold) const {
  std::vector<Ranked> best;
  if (tree_->empty()) return best;
  std::priority_queue<Frontier> frontier;
  std::vector<float*> lines;
  frontier.push({1.0, Child::block(0)});
  while (best.size() < k && !frontier.empty()) {
    const Frontier top = frontier.top();
    frontier.pop();
    if (top.child.kind() == Child::Kind::kLeaf) {
      best.push_back({top.child.label(), top.probability});
      continue;
    }
    open_block(x, top.child.block(), top.probability, lines, [&](Child child, double probability) {
      if (probability >= threshold) frontier.push({probability, child});
    });
  }
  return best;
}

Ranked TreeEstimator::draw(const ExampleView& x, std::uint64_t random) const {
  std::vector<float*> lines;
  Drawing drawing{random};
  for (BlockId block = 0;;) {
    const BlockContent& content = tree_->content(block);
    const Line p = block_probabilities(x, block, lines);
    const Child child = content.child[draw_in_block(p, content, regressors_, drawing)];
    if (child.kind() == Child::Kind::kLeaf) return {child.label(), drawing.probability};
    block = child.block();
  }
}

std::vector<double> TreeEstimator::all_probabilities(const ExampleView& x) const {
  std::vector<double> probabilities(tree_->labels());
  if (probabilities.empty()) return probabilities;
  std::vector<Frontier> open{{1.0, Child::block(0)}};
  std::vector<float*> lines;
  while (!open.empty()) {
    const Frontier next = open.back();
    open.pop_back();
    open_block(x, next.child.block(), next.probability, lines, [&](Child child, double probability) {
      if (child.kind() == Child::Kind::kLeaf) {
        probabilities[child.label()] = probability;
      } else {
        open.push_back({probability, child});
      }
    });
  }
  return probabilities;
}

}  // namespace cpt
