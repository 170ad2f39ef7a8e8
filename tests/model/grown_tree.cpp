#include "model/grown_tree.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "model/estimators/descent.h"
#include "model/random_stream.h"

namespace cpt {

namespace {

class Coin : public MadeUpRegressors {
 public:
  float right(const Question&) override { return static_cast<float>(dice_.bits() >> 40) * 0x1.0p-24F; }

 private:
  Dice dice_{5};
};

class Fixed : public MadeUpRegressors {
 public:
  explicit Fixed(float p) : p_(p) {}
  float right(const Question&) override { return p_; }

 private:
  float p_;
};

class Larger : public MadeUpRegressors {
 public:
  float right(const Question& node) override { return node.right >= node.left ? 1.0F : 0.0F; }
};

class Smaller : public MadeUpRegressors {
 public:
  float right(const Question& node) override { return node.right < node.left ? 1.0F : 0.0F; }
};

class Alternating : public MadeUpRegressors {
 public:
  float right(const Question& node) override { return (node.left + node.right) % 2 == 0 ? 1.0F : 0.0F; }
};

class Deepest : public Larger {
 public:
  float right(const Question& node) override {
    const std::uint32_t goal = node.block < place_.size() ? place_[node.block] : 0U;
    for (std::uint32_t at = goal; at > 1; at /= 2) {
      if (at / 2 == node.slot) return at % 2 == 1 ? 1.0F : 0.0F;
    }
    return Larger::right(node);
  }

  void joined(const Tree& tree) override {
    const auto label = static_cast<LabelId>(tree.labels() - 1);
    const std::uint32_t depth = tree.depth(label);
    if (depth <= greatest_) return;
    greatest_ = depth;
    for (const PathStep& hop : path_) place_[hop.block] = 0;
    tree.path(label, path_);
    place_.resize(tree.blocks());
    for (const PathStep& hop : path_) place_[hop.block] = hop.position;
  }

 private:
  std::uint32_t greatest_ = 0;
  std::vector<PathStep> path_;
  std::vector<std::uint8_t> place_;  // by block: where the path to the deepest leaf leaves it; 0 if it is not there
};

// `points` are the places of the labels on the row, in the order of leaf_split.
class Nearest : public MadeUpRegressors {
 public:
  explicit Nearest(std::vector<double> points) : points_(std::move(points)) {}

  float right(const Question& node) override {
    const auto [old_label, new_label] = made_for_[(kLastSlot + 1U) * node.block + node.slot];
    const double to_old = std::abs(points_[node.label] - points_[old_label]);
    const double to_new = std::abs(points_[node.label] - points_[new_label]);
    return static_cast<float>(to_old / (to_old + to_new));
  }

  void joined(const Tree& tree) override {
    const auto label = static_cast<LabelId>(tree.labels() - 1);
    const PathStep leaf = tree.leaf(label);
    made_for_.resize((kLastSlot + 1U) * tree.blocks());
    made_for_[(kLastSlot + 1U) * leaf.block + leaf.position / 2U] = {tree.split_for(label), label};
  }

 private:
  std::vector<double> points_;
  std::vector<std::pair<LabelId, LabelId>> made_for_;  // by block and slot: the labels whose leaves hung there first
};

std::vector<double> ascending(std::size_t labels) {
  std::vector<double> points(labels);
  std::iota(points.begin(), points.end(), 0.0);
  return points;
}

std::vector<double> descending(std::size_t labels) {
  std::vector<double> points = ascending(labels);
  std::reverse(points.begin(), points.end());
  return points;
}

std::vector<double> shuffled(std::size_t labels) {
  std::vector<double> points = ascending(labels);
  Dice dice(6);
  for (std::size_t i = labels; i > 1; --i) std::swap(points[i - 1], points[dice.below(i)]);
  return points;
}

std::vector<double> from_ends(std::size_t labels) {
  std::vector<double> points(labels);
  for (std::size_t i = 0; i < labels; ++i) points[i] = static_cast<double>(i % 2 == 0 ? i / 2 : labels - 1 - i / 2);
  return points;
}

Row opinions(const BlockNodes& content, BlockId block, LabelId label, MadeUpRegressors& regressors) {
  Row p{};
  for (std::uint8_t slot = 1; slot <= kLastSlot; ++slot) {
    if (content.child[slot].kind() != Child::Kind::kNode) continue;
    p[slot] = regressors.right({block, slot, content.leaves[2U * slot], content.leaves[2U * slot + 1], label});
  }
  return p;
}

const char* name_of(Opinion opinion) {
  constexpr const char* kNames[] = {"coin",    "right",   "left",      "larger",     "smaller",  "alternating",
                                    "deepest", "whisper", "ascending", "descending", "shuffled", "from ends"};
  return kNames[static_cast<std::size_t>(opinion)];
}

}  // namespace

std::unique_ptr<MadeUpRegressors> regressors_of(Opinion opinion, std::size_t labels) {
  switch (opinion) {
    case Opinion::kCoin:
      return std::make_unique<Coin>();
    case Opinion::kRight:
      return std::make_unique<Fixed>(1.0F);
    case Opinion::kLeft:
      return std::make_unique<Fixed>(0.0F);
    case Opinion::kLarger:
      return std::make_unique<Larger>();
    case Opinion::kSmaller:
      return std::make_unique<Smaller>();
    case Opinion::kAlternating:
      return std::make_unique<Alternating>();
    case Opinion::kDeepest:
      return std::make_unique<Deepest>();
    case Opinion::kWhisper:
      return std::make_unique<Fixed>(std::nextafter(0.5F, 1.0F));
    case Opinion::kNearestAscending:
      return std::make_unique<Nearest>(ascending(labels));
    case Opinion::kNearestDescending:
      return std::make_unique<Nearest>(descending(labels));
    case Opinion::kNearestShuffled:
      return std::make_unique<Nearest>(shuffled(labels));
    default:
      return std::make_unique<Nearest>(from_ends(labels));
  }
}

void PrintTo(const Growth& growth, std::ostream* out) {
  *out << "alpha " << growth.alpha << ", " << name_of(growth.opinion) << ", " << growth.labels << " labels";
}

GrownTree grow(const Growth& growth) {
  ModelOptions options;
  options.alpha = growth.alpha;
  const std::unique_ptr<MadeUpRegressors> regressors = regressors_of(growth.opinion, growth.labels);
  GrownTree grown{Tree(), {0}};
  Tree& tree = grown.tree;
  tree.add_first();
  while (tree.labels() < growth.labels) {
    const auto label = static_cast<LabelId>(tree.labels());
    InsertionState insertion = begin_insertion(options.seed, label);
    Child at = Child::block(0);
    while (at.kind() == Child::Kind::kBlock) {
      const BlockNodes& content = tree.nodes(at.block());
      const Row p = opinions(content, at.block(), label, *regressors);
      at = content.child[insertion_exit(p, content, options, insertion)];
    }
    tree.split(at.label());
    grown.disagreements.push_back(insertion.disagreements);
    regressors->joined(tree);
  }
  return grown;
}

std::vector<Growth> growths(double alpha) {
  const std::size_t labels = alpha < 0.1 ? 1500 : alpha < 0.2 ? 4000 : 20'000;
  std::vector<Growth> growths;
  for (const Opinion opinion : kOpinions) growths.push_back({alpha, opinion, labels});
  return growths;
}

Depths depths(const Tree& tree) {
  Depths depths;
  for (LabelId label = 0; label < tree.labels(); ++label) {
    const std::uint32_t depth = tree.depth(label);
    depths.greatest = std::max(depths.greatest, depth);
    depths.sum += depth;
  }
  return depths;
}

}  // namespace cpt
