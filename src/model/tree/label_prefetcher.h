// Looking for the labels of a batch with the memory asked for ahead of time, and for the examples themselves with it.
#pragma once

#include <cstddef>

#include "cpt/example.h"
#include "model/tree/labels.h"
#include "model/tree/tree.h"

namespace cpt {

// To find a label and its way through the tree takes some five accesses to memory, each of which tells the place of the
// next. Where labels are many, they would take longer than the learning. Borrows both; the tree may have no leaves, for
// methods other than trees.
class LabelPrefetcher {
 public:
  // `quickness`: how many times as many examples ahead to ask as where each one is learned at once.
  LabelPrefetcher(const LabelDictionary& labels, const Tree& tree, std::size_t quickness = 1)
      : labels_(labels), tree_(tree), step_(kStep * quickness) {}

  // Called before the label of each example of [.., end) is looked for, in order.
  void ask(const Batch& batch, std::size_t i, std::size_t end) const {
    if (i + 3 * step_ < end) labels_.prefetch_slot(batch.label_hash(i + 3 * step_));
    if (i + 2 * step_ < end) {
      batch.prefetch(i + 2 * step_);
      ask_for_leaf(labels_.likely(batch.label_hash(i + 2 * step_)));
    }
    if (i + step_ < end) ask_for_block(labels_.likely(batch.label_hash(i + step_)));
  }

 private:
  static constexpr std::size_t kStep = 3;

  void ask_for_leaf(LabelId label) const {
    if (label == kNoLabel) return;
    labels_.prefetch_ends(label);
    if (label < tree_.labels()) tree_.prefetch_leaf(label);
  }

  void ask_for_block(LabelId label) const {
    if (label == kNoLabel) return;
    labels_.prefetch_name(label);
    if (label < tree_.labels()) tree_.prefetch_block_of(label);
  }

  const LabelDictionary& labels_;
  const Tree& tree_;
  std::size_t step_;  // between one access and the next, in examples
};

}  // namespace cpt
