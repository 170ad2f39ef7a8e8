// The k-way theorem of the paper: conditional PECOC, literally, on full k-way trees over labels of known P.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>

#include "model/known_distribution.h"
#include "model/literal_pecoc.h"
#include "model/tree/bounds.h"

namespace cpt {
namespace {

using Values = std::vector<double>;

enum class Form : std::uint8_t { kRaw, kClipped, kNormalized };

// A full k-way tree: the first digit of a label in base k is its child of the root, and so on.
struct FullTree {
  std::size_t k;
  std::size_t depth;

  std::size_t labels() const { return static_cast<std::size_t>(std::pow(k, depth) + 0.5); }
};

// What the nodes make of P, and what their regressors say of it.
struct Node {
  Values p;      // of its children, given that it is reached
  Values exact;  // regressors
  Values r;      // as they are
};

Node node_over(const Values& p, std::size_t first, std::size_t width, std::size_t k) {
  Node node{Values(k), {}, {}};
  double sum = 0;
  for (std::size_t i = 0; i < width; ++i) {
    node.p[i / (width / k)] += p[first + i];
    sum += p[first + i];
  }
  for (double& child : node.p) child = sum > 0 ? child / sum : 1 / static_cast<double>(k);
  node.exact = exact_regressors(node.p);
  node.r = node.exact;
  return node;
}

// The nodes of a tree by how many labels are below them and which is the first.
class Nodes {
 public:
  Nodes(const FullTree& tree, const Values& p) : tree_(tree) {
    for (std::size_t width = tree.labels(); width > 1; width /= tree.k) {
      for (std::size_t first = 0; first < tree.labels(); first += width) {
        nodes_[{width, first}] = node_over(p, first, width, tree.k);
      }
    }
  }

  // Calls visit(node, child) on the way to a label.
  template <class Visit>
  void descend(std::size_t label, Visit visit) {
    for (std::size_t width = tree_.labels(); width > 1; width /= tree_.k) {
      visit(nodes_[{width, label - label % width}], label % width / (width / tree_.k));
    }
  }

  void perturb(double error, Dice& dice) {
    for (auto& [at, node] : nodes_) {
      for (std::size_t i = 1; i < tree_.k; ++i) node.r[i] = perturbed(node.exact[i], error, dice);
    }
  }

  double estimate(std::size_t label, Form form) {
    double q = 1;
    descend(label, [&](const Node& node, std::size_t child) {
      Values estimates = pecoc_estimates(tree_.k, node.r);
      if (form == Form::kClipped) estimates = clipped_at_zero(std::move(estimates));
      if (form == Form::kNormalized) estimates = normalized(estimates);
      q *= estimates[child];
    });
    return q;
  }

  // Over all regressors on the way to a label.
  double mean_square(std::size_t label) {
    double sum = 0;
    descend(label, [&](const Node& node, std::size_t) {
      for (std::size_t i = 1; i < tree_.k; ++i) sum += std::pow(node.r[i] - node.exact[i], 2);
    });
    return sum / static_cast<double>(tree_.depth * (tree_.k - 1));
  }

 private:
  FullTree tree_;
  std::map<std::pair<std::size_t, std::size_t>, Node> nodes_;
};

constexpr FullTree kTrees[] = {{2, 1}, {2, 8}, {4, 1}, {4, 4}, {16, 1}, {16, 2}, {256, 1}};

double bound(const FullTree& tree, double mean_square) {
  return k_way_bound(static_cast<double>(tree.k), static_cast<double>(tree.depth), mean_square);
}

TEST(KWayTheorem, ExactRegressorsGiveTheProbabilities) {
  Dice dice(1);
  for (const FullTree& tree : kTrees) {
    const Values p = random_distribution(tree.labels(), 3, dice);
    Nodes nodes(tree, p);
    for (std::size_t label = 0; label < p.size(); ++label) {
      ASSERT_NEAR(nodes.estimate(label, Form::kRaw), p[label], kRounding) << tree.k << " ways";
    }
  }
}

class KWayTheorem : public testing::TestWithParam<FullTree> {};

TEST_P(KWayTheorem, HoldsForRegressorsThatErr) {
  const FullTree tree = GetParam();
  Dice dice(2);
  for (const double error : {0.003, 0.05, 1.0}) {
    const Values p = random_distribution(tree.labels(), 5, dice);
    Nodes nodes(tree, p);
    nodes.perturb(error, dice);
    for (std::size_t label = 0; label < p.size(); ++label) {
      const double most = bound(tree, nodes.mean_square(label)) + kRounding;
      ASSERT_LE(std::pow(nodes.estimate(label, Form::kRaw) - p[label], 2), most);
      ASSERT_LE(std::pow(nodes.estimate(label, Form::kClipped) - p[label], 2), most);
    }
  }
}

// With estimates that are normalized inside of each node, its bound takes the place of the lemma's.
TEST_P(KWayTheorem, HoldsInItsWayForNormalizedNodes) {
  const FullTree tree = GetParam();
  Dice dice(3);
  const auto depth = static_cast<double>(tree.depth);
  for (const double error : {0.003, 0.05, 1.0}) {
    const Values p = random_distribution(tree.labels(), 5, dice);
    Nodes nodes(tree, p);
    nodes.perturb(error, dice);
    double sum = 0;
    for (std::size_t label = 0; label < p.size(); ++label) {
      const double q = nodes.estimate(label, Form::kNormalized);
      const double node_bound = normalized_pecoc_bound(static_cast<double>(tree.k), nodes.mean_square(label));
      ASSERT_LE(std::pow(q - p[label], 2), squared_error_bound(depth, node_bound) + kRounding);
      sum += q;
    }
    EXPECT_NEAR(sum, 1, 1e-9);
  }
}

INSTANTIATE_TEST_SUITE_P(Trees, KWayTheorem, testing::ValuesIn(kTrees), [](const auto& tree) {
  return std::to_string(tree.param.k) + "Ways" + std::to_string(tree.param.depth) + "Deep";
});

// All of P is on one label, and every regressor on its way errs by the same little bit against it: Q is
// (1 - 2 (k - 1) / k e)^d.
TEST(KWayTheorem, IsNearlyReached) {
  constexpr double kError = 1e-4;
  for (const FullTree& tree : kTrees) {
    Values p(tree.labels());
    p[tree.labels() / 3] = 1;
    Nodes nodes(tree, p);
    nodes.descend(tree.labels() / 3, [](Node& node, std::size_t) {
      for (std::size_t i = 1; i < node.r.size(); ++i) node.r[i] += node.exact[i] > 0.5 ? -kError : kError;
    });
    const double off = nodes.estimate(tree.labels() / 3, Form::kRaw) - 1;
    const double most = bound(tree, kError * kError);
    EXPECT_LE(off * off, most * (1 + 1e-9)) << tree.k << " ways";
    EXPECT_GT(off * off, 0.998 * most) << tree.k << " ways";
  }
}

}  // namespace
}  // namespace cpt
