#include "model/estimators/tree_estimator.h"

#include <algorithm>
#include <utility>

#include "core/hashing/id_map.h"
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

// The product of of_step(step), the probabilities of the steps of a path, in the order in which partitions compute it:
// each of the upper two has one step, and the deep one multiplies its own first. So both give the same bits.
template <class OfStep>
double path_product(std::size_t begin, std::size_t end, OfStep of_step) {
  const std::size_t upper = std::min(end, begin + 2);
  double above = 1;
  for (std::size_t step = begin; step < upper; ++step) above *= of_step(step);
  double below = 1;
  for (std::size_t step = upper; step < end; ++step) below *= of_step(step);
  return above * below;
}

// Scores what the search of one tree finds by the mean over all trees. A Search of Descent.
class BestByMean {
 public:
  BestByMean(const TreeEstimator& estimator, const ScaledExample& x, std::size_t labels, std::size_t count,
             double threshold)
      : estimator_(estimator), x_(x), scored_(labels), best_(count, threshold) {}

  // A mean is at most the largest of its terms, up to rounding: a label whose mean is good enough is at least as
  // probable in some tree, whose search finds it.
  double least() const { return kRoundingMargin * best_.least(); }

  void add_leaf(LabelId label, double /*probability*/) {
    if (scored_[label]) return;
    scored_[label] = true;
    estimator_.locate(x_, label, path_state_);
    best_.add_leaf(label, estimator_.predict(path_state_));
  }
  void add_outside(std::uint8_t /*exit*/, double /*probability*/) {}
  void add_subtree(double /*probability*/, std::uint32_t /*leaves*/) {}

  std::vector<Ranked> take() { return best_.take(); }

 private:
  const TreeEstimator& estimator_;
  const ScaledExample& x_;
  PathState path_state_;
  std::vector<bool> scored_;  // by label
  BestLabels best_;
};

}  // namespace

TreeEstimator::TreeEstimator(std::span<const Tree> trees, WeightTable& weights, const ModelOptions& options)
    : trees_(trees), regressors_(weights, options) {
  for (std::size_t t = 0; t < trees.size(); ++t) options_.push_back(options.of_tree(t));
}

Insertion TreeEstimator::choose_split(const ScaledExample& x) const {
  Insertion insertion;
  std::vector<float*> rows;
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    const Tree& tree = trees_[t];
    LabelId split = kNoLabel;
    if (!tree.empty()) {
      InsertionState state = begin_insertion(options_[t].seed, tree.labels());
      const PathStep leaf = Descent(x, tree.structure(), regressors_, rows).insert(options_[t], state);
      split = tree.structure().child(leaf).label();
      insertion.disagreements += state.disagreements;
    }
    insertion.splits.push_back(split);
  }
  return insertion;
}

void TreeEstimator::locate(const ScaledExample& x, LabelId label, PathState& path_state) const {
  path_state.example = x;
  path_state.label = label;
  path_state.clear_path();
  for (const Tree& tree : trees_) {
    tree.append_path(label, path_state.path);
    path_state.tree_ends.push_back(path_state.path.size());
    regressors_.locate(tree.structure(), true, path_state);
  }
}

bool TreeEstimator::is_current(const PathState& path_state) const {
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    const PathStep leaf = trees_[t].leaf(path_state.label);
    const PathStep& end = path_state.path[path_state.tree_ends[t] - 1];
    if (leaf.block != end.block || leaf.position != end.position) return false;
  }
  return true;
}

double TreeEstimator::predict(PathState& path_state) const {
  regressors_.predict(path_state);
  return mean_of_trees(path_state);
}

double TreeEstimator::learn(PathState& path_state, const Hook& hook) {
  if (hook) hook(path_state);
  regressors_.learn(path_state);
  return mean_of_trees(path_state);
}

double TreeEstimator::mean_of_trees(PathState& path_state) const {
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    regressors_.decode(trees_[t].structure(), path_state.tree_ends[t], path_state);
  }
  double sum = 0;
  for (std::size_t t = 0; t < trees_.size(); ++t) sum += of_tree(t, path_state);
  return sum / static_cast<double>(trees_.size());
}

double TreeEstimator::of_tree(std::size_t tree, const PathState& path_state) const {
  const std::size_t begin = tree == 0 ? 0 : path_state.tree_ends[tree - 1];
  return path_product(begin, path_state.tree_ends[tree],
                      [&](std::size_t step) { return regressors_.step_probability(path_state, step); });
}

std::vector<Ranked> TreeEstimator::top_k(const ScaledExample& x, std::size_t k, double threshold) const {
  if (trees_[0].empty() || k == 0) return {};
  if (trees_.size() > 1) return top_k_of_mean(x, k, threshold);
  BestLabels best(k, threshold);
  std::vector<float*> rows;
  Descent(x, trees_[0].structure(), regressors_, rows).search(1, best);
  return best.take();
}

std::vector<Ranked> TreeEstimator::top_k_of_mean(const ScaledExample& x, std::size_t k, double threshold) const {
  BestByMean best(*this, x, trees_[0].labels(), k, threshold);
  std::vector<float*> rows;
  for (const Tree& tree : trees_) Descent(x, tree.structure(), regressors_, rows).search(1, best);
  return best.take();
}

std::vector<Ranked> TreeEstimator::draw(const ScaledExample& x, std::uint64_t random) const {
  std::vector<Ranked> drawn;
  std::vector<float*> rows;
  for (std::size_t t = 0; t < trees_.size(); ++t) {
    const Blocks& blocks = trees_[t].structure();
    DrawState state{draw_seed(random, t)};
    const PathStep leaf = Descent(x, blocks, regressors_, rows).draw(state);
    drawn.push_back({blocks.child(leaf).label(), state.probability});
  }
  return drawn;
}

std::vector<double> TreeEstimator::probabilities(const ScaledExample& x, std::span<const LabelId> labels) const {
  std::vector<double> probabilities(labels.size());
  for (const Tree& tree : trees_) add_some(x, tree, labels, probabilities);
  for (double& p : probabilities) p /= static_cast<double>(trees_.size());
  return probabilities;
}

// Adds the probabilities that one tree gives these labels. Evaluates blocks that several paths share once.
void TreeEstimator::add_some(const ScaledExample& x, const Tree& tree, std::span<const LabelId> labels,
                             std::vector<double>& probabilities) const {
  std::vector<PathStep> path;
  IdMap<BlockId> numbers;
  for (const LabelId label : labels) {
    tree.path(label, path);
    for (const PathStep& step : path) numbers.add(step.block);
  }
  const std::vector<BlockId>& blocks = numbers.keys();
  std::vector<Row> sides(blocks.size());
  std::vector<float*> rows;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const BlockHeader* next = i + 1 == blocks.size() ? nullptr : &tree.header(blocks[i + 1]);
    sides[i] = regressors_.block_probabilities(x, tree.structure(), blocks[i], rows, next);
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    tree.path(labels[i], path);
    probabilities[i] += path_product(0, path.size(), [&](std::size_t step) {
      return regressors_.exit_probability(sides[numbers.find(path[step].block)], path[step].position);
    });
  }
}

std::vector<double> TreeEstimator::all_probabilities(const ScaledExample& x) const {
  std::vector<double> probabilities(trees_[0].labels());
  for (const Tree& tree : trees_) add_all(x, tree, probabilities);
  for (double& p : probabilities) p /= static_cast<double>(trees_.size());
  return probabilities;
}

// Adds the probabilities that one tree gives its labels.
void TreeEstimator::add_all(const ScaledExample& x, const Tree& tree, std::vector<double>& probabilities) const {
  if (tree.empty()) return;
  std::vector<double> above(tree.blocks());  // by block; a block comes after the one it hangs below
  above[0] = 1;
  std::vector<float*> rows;
  for (BlockId block = 0; block < tree.blocks(); ++block) {
    const BlockNodes& nodes = tree.nodes(block);
    const Row p = regressors_.block_probabilities(x, tree.structure(), block, rows);
    for_each_exit(p, nodes, regressors_, above[block], [&](std::uint8_t exit, double probability) {
      const Child child = nodes.child[exit];
      if (child.kind() == Child::Kind::kLeaf) {
        probabilities[child.label()] += probability;
      } else {
        above[child.block()] = probability;
      }
    });
  }
}

}  // namespace cpt
