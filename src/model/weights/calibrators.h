// The calibrators of the nodes of a tree: what turns the margin of a node's regressor into a probability.
//
// A node's calibrator is an online Bayesian logistic regression of the side taken, given the two margins of the node
// (see Estimate in kernels.h): P(right) = sigmoid(a z + b + c y). It costs nine floats per node, a, b, c and the
// covariance S of their estimates, and lies beside the block of the node, found by the block's key.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "model/tree/partition.h"

namespace cpt {

inline constexpr std::size_t kLanes = 16;
using Row = std::array<float, kLanes>;

// The calibrators of the 15 nodes of a block, lane by lane; lane 0 belongs to no node.
struct alignas(64) Calibrator {
  Row a, b, c;
  Row s_aa, s_ab, s_ac, s_bb, s_bc, s_cc;

  static constexpr std::size_t kRows = 9;
  Row* rows() { return &a; }
  const Row* rows() const { return &a; }
  void prefetch() const {
    for (std::size_t row = 0; row < kRows; ++row) __builtin_prefetch(rows() + row, 1);
  }
};
static_assert(sizeof(Calibrator) == Calibrator::kRows * sizeof(Row));

// What a node begins with: a = 1, b = 0, c = 1.5, and S = diag(0.1, 0.5, 0.1).
extern const Calibrator kFirstCalibrator;

// The calibrators of all blocks that have learned, by partition and key of the block. Their addresses never change.
// Several threads may read while none writes.
class Calibrators {
 public:
  explicit Calibrators(std::size_t partitions) : parts_(partitions) {}

  // nullptr if the block has not learned yet: it predicts by kFirstCalibrator.
  Calibrator* find(std::uint64_t key) { return const_cast<Calibrator*>(std::as_const(*this).find(key)); }
  const Calibrator* find(std::uint64_t key) const {
    for (std::uint64_t i = key >> 1;; ++i) {
      const Slot& slot = slots_[i & (slots_.size() - 1)];
      if (slot.key == key) return slot.calibrator;
      if (slot.key == 0) return nullptr;
    }
  }
  // Adds the calibrator of a block, or finds it.
  Calibrator& add(Partition partition, std::uint64_t key);
  std::size_t size(Partition partition) const { return parts_[partition].size(); }
  // By ascending key.
  std::vector<std::uint64_t> keys(Partition partition) const;
  void clear(Partition partition);

  // A sum over the partition's blocks, as the digest of its rows.
  std::uint64_t digest(Partition partition) const;
  bool finite(Partition partition) const;
  std::uint64_t bytes() const;

 private:
  struct Block {
    Calibrator calibrator;
    std::uint64_t key;
  };
  // A hash table of keys, which are odd hashes: those without their lowest bit serve as the place to begin at.
  struct Slot {
    std::uint64_t key = 0;
    Calibrator* calibrator = nullptr;
  };

  void insert(const Slot& slot);
  void make_index(std::size_t slots);

  std::vector<std::deque<Block>> parts_;  // by partition
  std::vector<Slot> slots_{2};            // a power of two; at most half are used
  std::size_t used_ = 0;
};

}  // namespace cpt
