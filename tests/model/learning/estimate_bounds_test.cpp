// The lemma and the squared-error theorem of the paper: what regressors that err do to the product of a path. The
// product is the library's own, over the blocks of a tree.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/estimators/descent.h"
#include "model/known_distribution.h"
#include "model/random_tree.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

// Of the reached probabilities: a double each, made of floats.
struct PathNode {
  PathStep at;  // block and slot
  bool right;
};

std::vector<PathNode> path_nodes(const Tree& tree, LabelId label) {
  std::vector<PathStep> hops;
  tree.path(label, hops);
  std::vector<PathNode> nodes;
  for (const PathStep& hop : hops) {
    for (std::uint8_t at = hop.position; at > 1; at /= 2) {
      nodes.push_back({{hop.block, static_cast<std::uint8_t>(at / 2)}, at % 2 == 1});
    }
  }
  return nodes;
}

// Labels of known P in a tree, and what the regressors of its nodes say.
class Estimates {
 public:
  Estimates(Tree tree, const std::vector<double>& p)
      : tree_(std::move(tree)), weights_(kLeastBits), regressors_(weights_, without_clipping()) {
    exact_.resize((kLastSlot + 1) * tree_.blocks());
    std::vector<double> reach(exact_.size());
    for (LabelId label = 0; label < tree_.labels(); ++label) {
      for (const PathNode& node : path_nodes(tree_, label)) {
        reach[index(node.at)] += p[label];
        if (node.right) exact_[index(node.at)] += p[label];
      }
    }
    for (std::size_t i = 0; i < exact_.size(); ++i) exact_[i] = reach[i] > 0 ? exact_[i] / reach[i] : 0.5;
    given_.assign(exact_.begin(), exact_.end());
  }

  const Tree& tree() const { return tree_; }
  // P(right) of a node as it is, and as its regressor says: a float, like the library's.
  double exact(PathStep node) const { return exact_[index(node)]; }
  float& given(PathStep node) { return given_[index(node)]; }

  void perturb(double error, Dice& dice) {
    for (std::size_t i = 0; i < exact_.size(); ++i) given_[i] = static_cast<float>(perturbed(exact_[i], error, dice));
  }

  // Q of all labels, reached block by block.
  std::vector<double> q() const {
    std::vector<double> q(tree_.labels());
    std::vector<double> above(tree_.blocks());
    above[0] = 1;
    for (BlockId block = 0; block < tree_.blocks(); ++block) {
      Row row{};
      for (std::uint8_t slot = 1; slot <= kLastSlot; ++slot) row[slot] = given_[index({block, slot})];
      const BlockNodes& content = tree_.nodes(block);
      for_each_exit(row, content, regressors_, above[block], [&](std::uint8_t place, double probability) {
        const Child child = content.child[place];
        (child.kind() == Child::Kind::kLeaf ? q[child.label()] : above[child.block()]) = probability;
      });
    }
    return q;
  }

 private:
  static std::size_t index(PathStep node) { return (kLastSlot + 1) * std::size_t{node.block} + node.position; }
  static ModelOptions without_clipping() {
    ModelOptions options;
    options.clip = 0;
    return options;
  }

  Tree tree_;
  WeightTable weights_;
  NodeRegressors regressors_;
  std::vector<double> exact_;
  std::vector<float> given_;
};

// What the statements are about: p and q of the sides taken on a path.
struct Path {
  std::vector<double> p;
  std::vector<double> q;

  double error(std::size_t i) const { return std::abs(q[i] - p[i]); }
  double sum_of_errors() const {
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += error(i);
    return sum;
  }
  double mean_square() const {
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) sum += error(i) * error(i);
    return p.empty() ? 0 : sum / static_cast<double>(p.size());
  }
  // sum over i of |q_i - p_i| times the product over all other j of max(p_j, q_j)
  double lemma() const {
    double sum = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      double product = error(i);
      for (std::size_t j = 0; j < p.size(); ++j) product *= j == i ? 1 : std::max(p[j], q[j]);
      sum += product;
    }
    return sum;
  }
};

Path path_of(Estimates& estimates, LabelId label) {
  Path path;
  for (const PathNode& node : path_nodes(estimates.tree(), label)) {
    const double p = estimates.exact(node.at);
    const double q = estimates.given(node.at);
    path.p.push_back(node.right ? p : 1 - p);
    path.q.push_back(node.right ? q : 1 - q);
  }
  return path;
}

// Calls check(Q, P, path) for labels of random trees with regressors that err by little, by much, and at random.
template <class Check>
void for_each_estimate(Check check) {
  Dice dice(4);
  for (const std::size_t labels : {1U, 2U, 17U, 1000U}) {
    for (const double spread : {0.0, 2.0, 10.0}) {
      for (const double error : {0.0, 0.001, 0.1, 1.0}) {
        const std::vector<double> p = random_distribution(labels, spread, dice);
        Estimates estimates(random_tree(labels, dice.bits()), p);
        estimates.perturb(error, dice);
        const std::vector<double> q = estimates.q();
        for (LabelId label = 0; label < labels; ++label) check(q[label], p[label], path_of(estimates, label));
      }
    }
  }
}

// All of P is on the last label of a chain, `depth` nodes down, and every regressor above it errs by `error`.
Estimates certain_label(std::size_t depth, float error) {
  std::vector<double> p(depth + 1);
  p[depth] = 1;
  Estimates estimates(chain(depth + 1), p);
  for (const PathNode& node : path_nodes(estimates.tree(), static_cast<LabelId>(depth))) {
    estimates.given(node.at) = 1 - error;
  }
  return estimates;
}

TEST(Estimate, IsTheProbabilityIfTheRegressorsAreExact) {
  Dice dice(8);
  const std::vector<double> p = random_distribution(300, 3, dice);
  const std::vector<double> q = Estimates(random_tree(300, 9), p).q();
  for (LabelId label = 0; label < 300; ++label) EXPECT_NEAR(q[label], p[label], 1e-6);
}

TEST(Lemma, HoldsForRegressorsThatErr) {
  for_each_estimate([](double q, double p, const Path& path) {
    ASSERT_LE(std::abs(q - p), path.lemma() + kRounding);
    ASSERT_LE(path.lemma(), path.sum_of_errors() + kRounding);
  });
}

TEST(Lemma, IsExactWhereOneRegressorErrs) {
  Dice dice(2);
  const std::vector<double> p = random_distribution(100, 1, dice);
  for (LabelId label = 0; label < 100; ++label) {
    Estimates estimates(random_tree(100, 3), p);
    const std::vector<PathNode> nodes = path_nodes(estimates.tree(), label);
    float& given = estimates.given(nodes[dice.below(nodes.size())].at);
    given = given > 0.5F ? given - 0.4F : given + 0.4F;
    EXPECT_NEAR(std::abs(estimates.q()[label] - p[label]), path_of(estimates, label).lemma(), 1e-6);
  }
}

TEST(Lemma, IsNearlyReachedWhereAllErr) {
  Estimates estimates = certain_label(20, 0x1p-12F);
  const Path path = path_of(estimates, 20);
  EXPECT_EQ(path.lemma(), path.sum_of_errors());
  EXPECT_GT(1 - estimates.q()[20], 0.997 * path.lemma());
}

TEST(SquaredErrorTheorem, HoldsForRegressorsThatErr) {
  for_each_estimate([](double q, double p, const Path& path) {
    const double bound = squared_error_bound(static_cast<double>(path.p.size()), path.mean_square());
    ASSERT_LE((q - p) * (q - p), bound + kRounding);
  });
}

// Q is (1 - e)^d, and 1 - Q nearly d e.
TEST(SquaredErrorTheorem, IsNearlyTight) {
  for (const std::size_t depth : {1U, 5U, 20U, 100U}) {
    Estimates estimates = certain_label(depth, 0x1p-16F);
    const double off = 1 - estimates.q()[depth];
    const double bound = squared_error_bound(static_cast<double>(depth), 0x1p-32);
    EXPECT_LE(off * off, bound) << depth;
    EXPECT_GT(off * off, 0.998 * bound) << depth;
  }
}

}  // namespace
}  // namespace cpt
