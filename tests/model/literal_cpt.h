// Algorithms 1 and 2 of the paper, word for word: a binary tree of pointers, explicit leaf regressors that are trained
// and copied, one map of weights per regressor, one example at a time, in double precision. Slow, and nothing is shared
// with the learner but the example.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cpt/example.h"

namespace cpt {

class LiteralCpt {
 public:
  LiteralCpt(double alpha, double rate) : alpha_(alpha), rate_(rate) {}
  virtual ~LiteralCpt() = default;
  LiteralCpt(const LiteralCpt&) = delete;
  LiteralCpt& operator=(const LiteralCpt&) = delete;

  std::size_t labels() const { return leaves_.size(); }
  bool knows(const std::string& label) const { return leaves_.count(label) > 0; }
  // Q(label | x) of a known label.
  double probability(const std::string& label, const ExampleView& x) const;
  // Of a given tree (Algorithm 1): the label's leaf hangs at this path, '1' = right. Before any example; afterwards all
  // leaves must have been given.
  void give(const std::string& label, const std::string& path);
  // Learns one example, of a known label or a new one.
  void learn(const ExampleView& x);
  // The sides from the root to the leaf of a known label: "0110", 1 = right.
  std::string path(const std::string& label) const;

 protected:
  struct Node {
    Node* parent = nullptr;
    std::unique_ptr<Node> left, right;  // both or none
    std::size_t leaves = 1;
    std::map<FeatureHash, double> weights;

    bool is_leaf() const { return left == nullptr; }
    std::size_t depth() const { return parent == nullptr ? 0 : parent->depth() + 1; }
  };
  struct UpdateStep {
    Node* node;
    double target;
  };

  // The regressor of a node. The paper's: linear, clipped to [0, 1].
  virtual double estimate(const Node& node, const ExampleView& x) const;
  // Trains regressors, each at most once in `update_steps`. The paper's: gradient descent, the error divided by |x|^2.
  virtual void train(const std::vector<UpdateStep>& update_steps, const ExampleView& x);
  // What the new leaf of the old label starts from when its leaf becomes a node, which keeps its regressor. The
  // paper's: a copy.
  virtual void start_old_leaf(const Node& split, Node& old_leaf) const { old_leaf.weights = split.weights; }

  double rate() const { return rate_; }
  static double margin(const Node& node, const ExampleView& x);

 private:
  std::vector<UpdateStep> find_leaf(const ExampleView& x);
  std::vector<UpdateStep> split(Node& leaf, const std::string& label);
  static void make_children(Node& leaf);
  static std::vector<UpdateStep> lessons_above(Node* leaf);

  double alpha_;
  double rate_;
  std::unique_ptr<Node> root_;
  std::map<std::string, Node*> leaves_;
};

// The learner's default, as far as it departs from the paper by more than speed: logistic loss; adaptive steps with one
// accumulator for all regressors of a block; a leaf's regressor exists only where its node would join a block that is
// open; the new leaf of the old label starts from 0.
class LiteralBlockCpt : public LiteralCpt {
 public:
  using LiteralCpt::LiteralCpt;

 protected:
  double estimate(const Node& node, const ExampleView& x) const override;
  void train(const std::vector<UpdateStep>& update_steps, const ExampleView& x) override;
  void start_old_leaf(const Node&, Node&) const override {}

 private:
  static Node* block_of(Node* node);

  std::map<Node*, std::map<FeatureHash, double>> squares_;  // by the topmost node of a block
};

}  // namespace cpt
