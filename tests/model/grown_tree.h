// Trees grown by the product's own rule, block by block, against regressors that a test makes up.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <vector>

#include "model/tree/tree.h"

namespace cpt {

// A node that a made-up regressor is asked about.
struct Question {
  BlockId block;
  std::uint8_t slot;
  std::uint32_t left;   // leaves
  std::uint32_t right;  // leaves
  LabelId label;        // the one that is to join
};

class MadeUpRegressors {
 public:
  virtual ~MadeUpRegressors() = default;
  // P(right) in [0, 1] at a node. Asked at every node of each block on the new label's way, and at times off its way.
  virtual float right(const Question& node) = 0;
  // The newest label of the tree has joined.
  virtual void joined(const Tree&) {}
};

// What the regressors say.
enum class Opinion : std::uint8_t {
  kCoin,               // at random, evenly in [0, 1)
  kRight,              // 1 at every node
  kLeft,               // 0 at every node
  kLarger,             // against the balance: 0 or 1, towards the side with more leaves
  kSmaller,            // with the balance
  kAlternating,        // 1 and 0 by turns, at every node
  kDeepest,            // towards the deepest leaf; off its path towards the side with more leaves
  kWhisper,            // right, by as little as a float can say
  kNearestAscending,   // as learned: every label has a place on a row, and goes where the label that its node was made
  kNearestDescending,  // for is nearer. The labels come from one end to the other, ...
  kNearestShuffled,    // ... in random order, ...
  kNearestFromEnds     // ... from both ends by turns
};

inline constexpr Opinion kOpinions[] = {Opinion::kCoin,
                                        Opinion::kRight,
                                        Opinion::kLeft,
                                        Opinion::kLarger,
                                        Opinion::kSmaller,
                                        Opinion::kAlternating,
                                        Opinion::kDeepest,
                                        Opinion::kWhisper,
                                        Opinion::kNearestAscending,
                                        Opinion::kNearestDescending,
                                        Opinion::kNearestShuffled,
                                        Opinion::kNearestFromEnds};

inline constexpr double kAlphas[] = {0.05, 0.1, 0.3, 0.6, 0.9, 1.0};

std::unique_ptr<MadeUpRegressors> regressors_of(Opinion opinion, std::size_t labels);

struct Growth {
  double alpha = 1;
  Opinion opinion = Opinion::kCoin;
  std::size_t labels = 2;  // at least 1
};

void PrintTo(const Growth& growth, std::ostream* out);

struct GrownTree {
  Tree tree;
  std::vector<std::uint32_t> disagreements;  // by label
};

GrownTree grow(const Growth& growth);

// One for each opinion, with as many labels as grow in a fraction of a second: trees of a small alpha may become
// chains.
std::vector<Growth> growths(double alpha);

// How deep the leaves of a tree are.
struct Depths {
  std::uint32_t greatest = 0;
  std::uint64_t sum = 0;
};

Depths depths(const Tree& tree);

// Calls visit(left, right) with the leaves on both sides of every node.
template <class Visit>
void visit_nodes(const Tree& tree, Visit visit) {
  for (BlockId block = 0; block < tree.blocks(); ++block) {
    const BlockNodes& content = tree.nodes(block);
    for (std::size_t slot = 1; slot <= kLastSlot; ++slot) {
      if (content.child[slot].kind() != Child::Kind::kNode) continue;
      visit(content.leaves[2 * slot], content.leaves[2 * slot + 1]);
    }
  }
}

}  // namespace cpt
