#include "model/estimators/tree_estimator.h"

#include <algorithm>
#include <utility>

#include "model/estimators/descent.h"

namespace cpt {

namespace {

// The best labels found so far, at most `count`, each with a probability of at least `threshold`. A Search of Descent.
class BestLabels {
 public:
  BestLabels(std::size_t count, double threshold) : count_(count), least_(threshold) {}

  // Labels with a lower probability than this, or NaN, are not among the best.
  double least() const { return least_; }

  void add_leaf(LabelId label, double probability) {
    const Ranked found{label, probability};
    if (!(probability >= least_)) return;
    if (best_.size() == count_) {
      if (!ranks_before(found, best_.front())) return;
      std::pop_heap(best_.begin(), best_.end(), ranks_before);
      best_.pop_back();
    }
    best_.push_back(found);
    std::push_heap(best_.begin(), best_.end(), ranks_before);
    if (best_.size() == count_) least_ = best_.front().probability;
  }
  void add_outside(std::uint8_t /*exit*/, double /*probability*/) {}  // a whole tree links to nothing outside
  void add_subtree(double /*probability*/, std::uint32_t /*leaves*/) {}

  std::vector<Ranked> take() {
    std::sort_heap(best_.begin(), best_.end(), ranks_before);
    return std::move(best_);
  }

 private:
  std::size_t count_;
  double least_;
  std::vector<Ranked> best_;  // a heap with the worst label in front
};

}  // namespace

TreeEstimator::TreeEstimator(const Tree& tree, WeightTable& weights, const ModelOptions& options)
    : tree_(&tree), options_(options), regressors_(weights, options) {}

Insertion TreeEstimator::choose_split(const ScaledExample& x) const {
  if (tree_->empty()) return {};
  std::vector<float*> rows;
  InsertionState state = begin_insertion(options_, tree_->labels());
  const PathStep leaf = Descent(x, tree_->structure(), regressors_, rows).insert(options_, state);
  return {tree_->structure().child(leaf).label(), state.disagreements};
}

void TreeEstimator::locate(const ScaledExample& x, LabelId label, PathState& path_state) const {
  path_state.example = x;
  path_state.label = label;
  tree_->path(label, path_state.path);
  regressors_.locate(tree_->structure(), true, path_state);
}

bool TreeEstimator::is_current(const PathState& path_state) const {
  const PathStep leaf = tree_->leaf(path_state.label);
  return leaf.block == path_state.path.back().block && leaf.position == path_state.path.back().position;
}

double TreeEstimator::predict(PathState& path_state) const {
  regressors_.predict(tree_->structure(), path_state);
  // The steps of each partition (one step in each of the upper two) are multiplied with one another first, so that the
  // product is the same to the last bit if every partition computes its own part.
  const std::size_t steps = path_state.path.size();
  const std::size_t upper = std::min<std::size_t>(steps, 2);
  return regressors_.steps_probability(path_state, 0, upper) * regressors_.steps_probability(path_state, upper, steps);
}

std::vector<Ranked> TreeEstimator::top_k(const ScaledExample& x, std::size_t k, double threshold) const {
  if (tree_->empty() || k == 0) return {};
  BestLabels best(k, threshold);
  std::vector<float*> rows;
  Descent(x, tree_->structure(), regressors_, rows).search(1, best);
  return best.take();
}

Ranked TreeEstimator::draw(const ScaledExample& x, std::uint64_t random) const {
  std::vector<float*> rows;
  DrawState state{random};
  const PathStep leaf = Descent(x, tree_->structure(), regressors_, rows).draw(state);
  return {tree_->structure().child(leaf).label(), state.probability};
}

std::vector<double> TreeEstimator::all_probabilities(const ScaledExample& x) const {
  std::vector<double> probabilities(tree_->labels());
  if (probabilities.empty()) return probabilities;
  std::vector<double> above(tree_->blocks());  // by block; a block comes after the one it hangs below
  above[0] = 1;
  std::vector<float*> rows;
  for (BlockId block = 0; block < tree_->blocks(); ++block) {
    const BlockNodes& nodes = tree_->nodes(block);
    const Row p = block_probabilities(x, block, rows);
    for_each_exit(p, nodes, regressors_, above[block], [&](std::uint8_t exit, double probability) {
      const Child child = nodes.child[exit];
      if (child.kind() == Child::Kind::kLeaf) {
        probabilities[child.label()] = probability;
      } else {
        above[child.block()] = probability;
      }
    });
  }
  return probabilities;
}

}  // namespace cpt
