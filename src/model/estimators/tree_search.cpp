#include <algorithm>

#include "model/estimators/tree_estimator.h"
#include "model/weights/block_steps.h"

namespace cpt {

namespace {

// Better labels first; of the same probability, lower ids.
struct IsBetter {
  bool operator()(const Ranked& a, const Ranked& b) const {
    return a.probability != b.probability ? a.probability > b.probability : a.label < b.label;
  }
};

// The best labels of those that were offered.
class BestLabels {
 public:
  // Of at least this probability, and so many.
  BestLabels(std::size_t count, double threshold) : count_(count), least_(threshold) {}

  // What has a lower probability than this, or NaN, will not be among them.
  double least() const { return least_; }

  void offer(const Ranked& label) {
    if (!(label.probability >= least_)) return;
    if (best_.size() == count_) {
      if (!IsBetter()(label, best_.front())) return;
      std::pop_heap(best_.begin(), best_.end(), IsBetter());
      best_.pop_back();
    }
    best_.push_back(label);
    std::push_heap(best_.begin(), best_.end(), IsBetter());
    if (best_.size() == count_) least_ = best_.front().probability;
  }

  std::vector<Ranked> take() {
    std::sort_heap(best_.begin(), best_.end(), IsBetter());
    return std::move(best_);
  }

 private:
  std::size_t count_;
  double least_;
  std::vector<Ranked> best_;  // a heap, the worst in front
};

// A block that can be reached.
struct Reached {
  double probability;
  BlockId block;

  bool operator<(const Reached& other) const { return probability < other.probability; }
};

}  // namespace

// Every block that reaches the probability of the worst label found is opened, so the order in which they are changes
// nothing but their number: best first, no other is.
std::vector<Ranked> TreeEstimator::top_k(const ExampleView& x, std::size_t k, double threshold) const {
  if (tree_->empty() || k == 0) return {};
  BestLabels best(k, threshold);
  std::vector<Reached> frontier{{1.0, 0}};  // a heap
  std::vector<float*> rows;
  while (!frontier.empty() && frontier.front().probability >= best.least()) {
    std::pop_heap(frontier.begin(), frontier.end());
    const Reached top = frontier.back();
    frontier.pop_back();
    const BlockNodes& content = tree_->content(top.block);
    const BlockHeader* next_best = frontier.empty() ? nullptr : &tree_->link(frontier.front().block);
    const Row p = regressors_.block_probabilities(x, tree_->structure(), top.block, rows, next_best);
    reach_in_block(p, content, regressors_, top.probability, best.least(), [&](std::uint8_t place, double probability) {
      const Child child = content.child[place];
      if (child.kind() == Child::Kind::kLeaf) {
        best.offer({child.label(), probability});
      } else {
        frontier.push_back({probability, child.block()});
        std::push_heap(frontier.begin(), frontier.end());
      }
    });
  }
  return best.take();
}

Ranked TreeEstimator::draw(const ExampleView& x, std::uint64_t random) const {
  std::vector<float*> rows;
  Drawing drawing{random};
  for (BlockId block = 0;;) {
    const BlockNodes& content = tree_->content(block);
    const Row p = block_probabilities(x, block, rows);
    const Child child = content.child[draw_in_block(p, content, regressors_, drawing)];
    if (child.kind() == Child::Kind::kLeaf) return {child.label(), drawing.probability};
    block = child.block();
  }
}

std::vector<double> TreeEstimator::all_probabilities(const ExampleView& x) const {
  std::vector<double> probabilities(tree_->labels());
  if (probabilities.empty()) return probabilities;
  std::vector<Reached> open{{1.0, 0}};
  std::vector<float*> rows;
  while (!open.empty()) {
    const Reached next = open.back();
    open.pop_back();
    const BlockNodes& content = tree_->content(next.block);
    const Row p = block_probabilities(x, next.block, rows);
    reach_in_block(p, content, regressors_, next.probability, [&](std::uint8_t place, double probability) {
      const Child child = content.child[place];
      if (child.kind() == Child::Kind::kLeaf) {
        probabilities[child.label()] = probability;
      } else {
        open.push_back({probability, child.block()});
      }
    });
  }
  return probabilities;
}

}  // namespace cpt
