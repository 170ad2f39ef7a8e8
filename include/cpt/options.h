// What determines a model, besides the data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cpt/example.h"

namespace cpt {

enum class Loss : std::uint8_t { kSquared, kLogistic };
enum class Update : std::uint8_t { kAdaptive, kSgd };
// What estimates P(label | x): a tree with a binary regressor at every node; a tree of `arity` ways with a code of
// arity - 1 regressors over the children of every node (conditional PECOC); a regressor for every label (one-against-
// all); how often the label came with the identical x (the table); a code of regressors over all labels, which must be
// known beforehand (PECOC).
enum class Method : std::uint8_t { kTree, kConditionalPecoc, kOneAgainstAll, kTable, kPecoc };
// How a new label finds its place: Algorithm 2 of the paper; the same with alpha = 1; a fair coin at every node; or
// (Algorithm 1) in a tree that was there before the first example, which labels that it lacks join as online.
enum class TreeKind : std::uint8_t { kOnline, kBalanced, kRandom, kGiven };

inline constexpr int kLeastBits = 10;
inline constexpr int kMostBits = 40;

// Options of the learner. They are part of a model: who reads one needs them to make the same predictions.
struct ModelOptions {
  Method method = Method::kTree;
  int arity = 16;  // 2, 4, 8 or 16: ways of a node; of conditional PECOC only
  TreeKind tree = TreeKind::kOnline;
  double alpha = 0.9;  // in (0, 1]; the rule's weight of balance against the regressors
  Loss loss = Loss::kLogistic;
  Update update = Update::kAdaptive;
  double learning_rate = 1.0;  // in [1e-12, 1e12]
  // In [0, 0.5): node probabilities are kept in [clip, 1 - clip] when predicting. One-against-all and PECOC, which have
  // no nodes, spread this part evenly over all labels.
  double clip = 0.001;
  int bits = 22;           // in [kLeastBits, kMostBits]: the weight table has 2^bits lines of 64 bytes
  std::uint64_t seed = 1;  // of hashes and of every random choice

  // How text becomes features.
  Normalize normalize = Normalize::kNone;
  std::vector<std::string> interactions{};  // pairs of first frames of namespaces

  // Throws Error(kUsage) that names the option, the value and the range.
  void validate() const;
  // Ways of a node: 2 unless the method is conditional PECOC.
  int ways() const { return method == Method::kConditionalPecoc ? arity : 2; }
  // Of the weight table: the table of frequencies has no weights, and takes the smallest one.
  int table_bits() const { return method == Method::kTable ? kLeastBits : bits; }
  // Whether labels hang in a tree that probabilities come from.
  bool is_tree() const { return method == Method::kTree || method == Method::kConditionalPecoc; }
  // alpha as the rule uses it: 1 for a balanced tree.
  double effective_alpha() const { return tree == TreeKind::kBalanced ? 1.0 : alpha; }
  // Whether the whole tree grew by the rule, so that what the paper proves of its shape holds.
  bool bounds_shape() const { return is_tree() && (tree == TreeKind::kOnline || tree == TreeKind::kBalanced); }
};

}  // namespace cpt
