// The options that, with the data, determine a model. A model carries them in its files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cpt/example.h"
#include "cpt/input.h"

namespace cpt {

// The loss that node regressors minimise. kSquared, the paper's, clips w.x to [0, 1].
enum class Loss : std::uint8_t { kSquared, kLogistic };
// How weights are updated. kSgd takes plain gradient steps, as the paper does. kAdaptive and kSafe scale steps by one
// AdaGrad accumulator for each row of the weight table. kSafe also follows the gradient as it changes during a step, so
// that no step overshoots, whatever the values and the importance.
enum class Update : std::uint8_t { kAdaptive, kSgd, kSafe };
// How P(label | x) is estimated. The cost is for one example and n labels.
enum class Method : std::uint8_t {
  kTree,              // a binary regressor at every node of a tree; O(log n)
  kConditionalPecoc,  // a tree with `arity` children per node, and a code of arity - 1 regressors over them; O(log n)
  kOneAgainstAll,     // a regressor for every label; O(n)
  kTable,             // how often the label came with the identical x; a look-up, and memory for every distinct pair
  kPecoc,             // a code of about n regressors over all labels, which must be known beforehand; O(n) to learn,
                      // O(n log n) to predict
};

// How a new label is inserted into the tree.
enum class TreeKind : std::uint8_t {
  kOnline,    // by the rule of Algorithm 2 of the paper, with the weight `alpha`
  kBalanced,  // by the same rule with alpha = 1, which ignores the regressors
  kRandom,    // by a fair coin at every node
  kGiven,  // the tree is given before the first example (Algorithm 1); labels that it lacks are inserted as in kOnline
};

inline constexpr int kLeastBits = 10;
inline constexpr int kMostBits = 40;
inline constexpr int kMostTrees = 8;

// The options of a model.
struct ModelOptions {
  Method method = Method::kTree;
  int arity = 16;  // children of a node: 2, 4, 8 or 16; used by kConditionalPecoc only
  TreeKind tree = TreeKind::kOnline;
  double alpha = 0.9;  // in (0, 1]: weight of balance against the regressors in the insertion rule
  // In [1, kMostTrees]: P is the mean over this many trees of the same labels, each with a table and an alpha of its
  // own. Several trees must grow kOnline or kRandom.
  int trees = 1;
  Loss loss = Loss::kLogistic;
  Update update = Update::kSafe;
  // Whether node probabilities are calibrated: learned from the margin of the node's regressor. With `rarity`, also
  // from a second margin, of values scaled by the rarity of their features. Used by trees of logistic regressors only.
  bool calibrate = true;
  bool rarity = true;
  double learning_rate = 1.0;  // in [1e-12, 1e12]
  // In [0, 0.5). Predictions keep node probabilities in [clip, 1 - clip], so that no label has probability 0.
  // kOneAgainstAll and kPecoc, which have no nodes, spread this part of the probability evenly over all labels.
  double clip = 0.001;
  int bits = 22;           // in [kLeastBits, kMostBits]: the weight table of a tree has 2^bits rows of 64 bytes
  std::uint64_t seed = 1;  // of feature hashes and of every random choice

  // How examples are made from input. A program that builds its own batches applies them itself.
  Normalize normalize = Normalize::kNone;
  // Pairs of namespaces, by the first letters of their names, such as "ab", or by whole names, such as "user:page".
  std::vector<std::string> interactions{};
  // Each entry adds a feature for each 2 to N adjacent words, N in [2, 8], of all text ("N") or of a namespace
  // ("NAMESPACE:N").
  std::vector<std::string> ngrams{};

  FieldRoles fields{};

  // Throws Error(kUsage) that names the option, its value and its range, if one is out of range.
  void validate() const;
  // Children of a node: 2 unless the method is kConditionalPecoc.
  int effective_arity() const { return method == Method::kConditionalPecoc ? arity : 2; }
  // Bits of the weight table. kTable has no weights and takes the smallest table.
  int table_bits() const { return method == Method::kTable ? kLeastBits : bits; }
  // Whether probabilities come from a tree of labels.
  bool is_tree() const { return method == Method::kTree || method == Method::kConditionalPecoc; }
  bool calibrates() const { return calibrate && is_tree() && loss == Loss::kLogistic; }
  bool uses_rarity() const { return calibrates() && rarity; }
  // alpha as the insertion rule uses it: 1 for kBalanced.
  double effective_alpha() const { return tree == TreeKind::kBalanced ? 1.0 : alpha; }
  // The options of tree t of several: alpha falls evenly from tree to tree, so 0.9 is followed by 0.8, 0.7, ..., and
  // each flips coins of its own.
  ModelOptions of_tree(std::size_t t) const;
  // Whether the paper's bounds on the tree's shape hold, because the whole tree grew by its rule.
  bool bounds_shape() const { return is_tree() && (tree == TreeKind::kOnline || tree == TreeKind::kBalanced); }
};

}  // namespace cpt
