// Prefetching for loops over examples. Learning is bound by memory: asking for what the next few examples need while
// the current one is learned makes it several times faster.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include "cpt/example.h"
#include "model/tree/labels.h"
#include "model/tree/tree.h"
#include "model/weights/regressors.h"

namespace cpt {

// Prefetches the examples of a batch, and what finding their labels and the paths to them reads. Finding both takes
// about five reads, each at an address that the one before returns; with many labels, waiting for them would take
// longer than learning. Borrows labels and trees, which may be empty, for methods other than trees.
class LabelPrefetcher {
 public:
  static constexpr std::size_t kStep = 3;

  // `speed`: the loop takes examples this many times faster than learning does, so it prefetches that many times
  // further ahead.
  LabelPrefetcher(const LabelDictionary& labels, std::span<const Tree> trees, std::size_t speed = 1)
      : labels_(labels), trees_(trees), step_(kStep * speed) {}

  // To be called for each example i in order, before its label is looked up. Prefetches nothing from `end` on.
  void prefetch(const Batch& batch, std::size_t i, std::size_t end) const {
    if (i + 4 * step_ < end) batch.prefetch_entry(i + 4 * step_);
    if (i + 3 * step_ < end) labels_.prefetch_slot(batch.label_hash(i + 3 * step_));
    if (i + 2 * step_ < end) {
      batch.prefetch(i + 2 * step_);
      prefetch_leaf(labels_.likely(batch.label_hash(i + 2 * step_)));
    }
    if (i + step_ < end) prefetch_block(labels_.likely(batch.label_hash(i + step_)));
  }

 private:
  void prefetch_leaf(LabelId label) const {
    if (label == kNoLabel) return;
    labels_.prefetch_ends(label);
    for (const Tree& tree : trees_) {
      if (label < tree.labels()) tree.prefetch_leaf(label);
    }
  }

  void prefetch_block(LabelId label) const {
    if (label == kNoLabel) return;
    labels_.prefetch_name(label);
    for (const Tree& tree : trees_) {
      if (label < tree.labels()) tree.prefetch_block_of(label);
    }
  }

  const LabelDictionary& labels_;
  std::span<const Tree> trees_;
  std::size_t step_;  // examples between one read and the next
};

// Visits path states in order and meanwhile prefetches the rows of the state kAhead visits later, which must fit the
// first-level cache beside those of the states between. The kernels prefetch two thirds of these rows; the others are
// prefetched before and after a state is prepared, when no other request to memory is under way. A Slot has a PathState
// named `path_state`; slots keep their memory between calls. Not thread-safe.
template <class Slot, std::size_t kAhead>
class PathPrefetcher {
 public:
  // Calls visit(i, slot) for i in [begin, end), in order, after prepare(i, slot) up to kAhead visits earlier. If
  // prepare() leaves rows in the path state, they are prefetched.
  template <class Prepare, class Visit>
  void each(std::size_t begin, std::size_t end, Prepare prepare, Visit visit) {
    std::size_t prepared = begin;
    RowsAhead rest;  // what the kernels left
    for (std::size_t i = begin; i < end; ++i) {
      rest.prefetch(rest.left() / 2);
      for (; prepared < std::min(end, i + kAhead + 1); ++prepared) prepare(prepared, slot(prepared));
      rest.prefetch(rest.left());
      const bool is_last = i + kAhead >= end;
      rest = is_last ? RowsAhead{} : slot(i + kAhead).path_state.all_rows();
      slot(i).path_state.ahead = {rest.rows, rest.count * 2 / 3};
      visit(i, slot(i));
      rest.prefetched = slot(i).path_state.ahead.prefetched;
    }
  }

 private:
  Slot& slot(std::size_t i) { return slots_[i % slots_.size()]; }

  std::array<Slot, kAhead + 1> slots_;
};

}  // namespace cpt
