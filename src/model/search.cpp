#include "model/search.h"

#include <queue>

#include "model/block_steps.h"

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

// Calls visit(child, probability) for every leaf and block that hangs in `block`, whose own probability is `above`.
template <class Visit>
void open_block(const Estimator& estimator, const ExampleView& x, BlockId block, double above,
                std::vector<float*>& lines, Visit visit) {
  const BlockContent& content = estimator.tree().content(block);
  const Line p = estimator.block_probabilities(x, block, lines);
  reach_in_block(p, content, estimator.regressors(), above,
                 [&](std::uint8_t place, double probability) { visit(content.child[place], probability); });
}

}  // namespace

std::vector<Ranked> top_k(const Estimator& estimator, const ExampleView& x, std::size_t k, double threshold) {
  std::vector<Ranked> best;
  if (estimator.tree().empty()) return best;
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
    open_block(estimator, x, top.child.block(), top.probability, lines, [&](Child child, double probability) {
      if (probability >= threshold) frontier.push({probability, child});
    });
  }
  return best;
}

Ranked draw(const Estimator& estimator, const ExampleView& x, std::uint64_t random) {
  std::vector<float*> lines;
  Drawing drawing{random};
  for (BlockId block = 0;;) {
    const BlockContent& content = estimator.tree().content(block);
    const Line p = estimator.block_probabilities(x, block, lines);
    const Child child = content.child[draw_in_block(p, content, estimator.regressors(), drawing)];
    if (child.kind() == Child::Kind::kLeaf) return {child.label(), drawing.probability};
    block = child.block();
  }
}

std::vector<double> all_probabilities(const Estimator& estimator, const ExampleView& x) {
  std::vector<double> probabilities(estimator.tree().labels());
  if (probabilities.empty()) return probabilities;
  std::vector<Frontier> open{{1.0, Child::block(0)}};
  std::vector<float*> lines;
  while (!open.empty()) {
    const Frontier next = open.back();
    open.pop_back();
    open_block(estimator, x, next.child.block(), next.probability, lines, [&](Child child, double probability) {
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
