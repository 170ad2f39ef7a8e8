#include "model/literal_cpt.h"

#include <algorithm>
#include <cmath>

namespace cpt {

double LiteralCpt::probability(const std::string& label, const ExampleView& x) const {
  double product = 1;
  for (const Node* at = leaves_.at(label); at->parent != nullptr; at = at->parent) {
    const double right = estimate(*at->parent, x);
    product *= at == at->parent->right.get() ? right : 1 - right;
  }
  return product;
}

void LiteralCpt::give(const std::string& label, const std::string& path) {
  if (root_ == nullptr) root_ = std::make_unique<Node>();
  Node* node = root_.get();
  for (const char side : path) {
    if (node->is_leaf()) make_children(*node);
    node = (side == '1' ? node->right : node->left).get();
  }
  leaves_[label] = node;
}

void LiteralCpt::learn(const ExampleView& x) {
  const std::string label(x.label);
  if (!knows(label)) {
    train(find_leaf(x), x);
    return;
  }
  Node* leaf = leaves_[label];
  std::vector<UpdateStep> update_steps = lessons_above(leaf);
  update_steps.push_back({leaf, 0});
  train(update_steps, x);
}

std::string LiteralCpt::path(const std::string& label) const {
  std::string path;
  for (const Node* at = leaves_.at(label); at->parent != nullptr; at = at->parent) {
    path += at == at->parent->right.get() ? '1' : '0';
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// The update_steps are given after the label has found its place rather than on the way. That is the same: each
// regressor is asked before it is taught, and occurs once.
std::vector<LiteralCpt::UpdateStep> LiteralCpt::find_leaf(const ExampleView& x) {
  const std::string label(x.label);
  if (root_ == nullptr) {
    root_ = std::make_unique<Node>();
    leaves_[label] = root_.get();
    return {{root_.get(), 0}};
  }
  Node* node = root_.get();
  while (!node->is_leaf()) {
    const double f = estimate(*node, x);
    const auto left = static_cast<double>(node->left->leaves);
    const auto right = static_cast<double>(node->right->leaves);
    const double obj = (1 - alpha_) * 2 * (f - 0.5) + alpha_ * std::log2(left / right);
    node = (obj > 0 ? node->right : node->left).get();
  }
  return split(*node, label);
}

std::vector<LiteralCpt::UpdateStep> LiteralCpt::split(Node& leaf, const std::string& label) {
  const auto is_here = [&](const auto& entry) { return entry.second == &leaf; };
  const auto old = std::find_if(leaves_.begin(), leaves_.end(), is_here);
  make_children(leaf);
  start_old_leaf(leaf, *leaf.left);
  old->second = leaf.left.get();
  leaves_[label] = leaf.right.get();

  std::vector<UpdateStep> update_steps = lessons_above(leaf.right.get());
  update_steps.push_back({leaf.right.get(), 0});
  return update_steps;
}

void LiteralCpt::make_children(Node& leaf) {
  leaf.left = std::make_unique<Node>();
  leaf.right = std::make_unique<Node>();
  leaf.left->parent = &leaf;
  leaf.right->parent = &leaf;
  for (Node* at = &leaf; at != nullptr; at = at->parent) ++at->leaves;
}

std::vector<LiteralCpt::UpdateStep> LiteralCpt::lessons_above(Node* leaf) {
  std::vector<UpdateStep> update_steps;
  for (Node* at = leaf; at->parent != nullptr; at = at->parent) {
    update_steps.push_back({at->parent, at == at->parent->right.get() ? 1.0 : 0.0});
  }
  return update_steps;
}

double LiteralCpt::margin(const Node& node, const ExampleView& x) {
  double sum = 0;
  for (std::size_t f = 0; f < x.features.size(); ++f) {
    const auto weight = node.weights.find(x.features[f]);
    if (weight != node.weights.end()) sum += weight->second * static_cast<double>(x.values[f]);
  }
  return sum;
}

double LiteralCpt::estimate(const Node& node, const ExampleView& x) const {
  return std::clamp(margin(node, x), 0.0, 1.0);
}

void LiteralCpt::train(const std::vector<UpdateStep>& update_steps, const ExampleView& x) {
  for (const UpdateStep& update_step : update_steps) {
    const double error = (update_step.target - estimate(*update_step.node, x)) / x.squared_length();
    for (std::size_t f = 0; f < x.features.size(); ++f) {
      update_step.node->weights[x.features[f]] += rate_ * error * static_cast<double>(x.values[f]);
    }
  }
}

double LiteralBlockCpt::estimate(const Node& node, const ExampleView& x) const {
  return 1 / (1 + std::exp(-margin(node, x)));
}

// The topmost node of the block in whose rows this regressor has a lane; null if it has none.
LiteralCpt::Node* LiteralBlockCpt::block_of(Node* node) {
  if (node->is_leaf() && node->depth() > 0 && node->depth() % 4 == 0) return nullptr;
  while (node->depth() % 4 != 0) node = node->parent;
  return node;
}

void LiteralBlockCpt::train(const std::vector<UpdateStep>& update_steps, const ExampleView& x) {
  std::map<Node*, std::vector<std::pair<Node*, double>>> errors;  // by block
  for (const UpdateStep& update_step : update_steps) {
    Node* block = block_of(update_step.node);
    if (block == nullptr) continue;
    const double error = (update_step.target - estimate(*update_step.node, x)) / x.squared_length();
    errors[block].emplace_back(update_step.node, error);
  }
  for (const auto& [block, of_block] : errors) {
    double squares = 0;
    for (const auto& [node, error] : of_block) squares += error * error;
    for (std::size_t f = 0; f < x.features.size(); ++f) {
      const auto value = static_cast<double>(x.values[f]);
      double& sum = squares_[block][x.features[f]];
      sum += value * value * squares;
      for (const auto& [node, error] : of_block) {
        node->weights[x.features[f]] += rate() * value * error / std::sqrt(sum);
      }
    }
  }
}

}  // namespace cpt
