// The calibrators of the nodes of a tree: each turns the two margins of its node into a probability.
//
// A node's calibrator is an online Bayesian logistic regression of the side taken, given the two margins of the node
// (see Estimate in kernels.h): P(right) = sigmoid(a z + b + c y), with 1.05 times the sum when it predicts. It costs
// nine floats per node, a, b, c and the covariance S of their estimates, and lies beside the block of the node, found
// by the block's key.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/zeroed_memory.h"
#include "model/tree/partition.h"

namespace cpt {

inline constexpr std::size_t kLanes = 16;
using Row = std::array<float, kLanes>;

// The calibrators of the 15 nodes of a block. The numbers of a node lie side by side, and those of a node and its two
// children in one pair of cache lines, because an example learns few nodes of a block, one below the other: of binary
// nodes four, in two such pairs.
struct alignas(64) Calibrator {
  enum Number : std::uint8_t { kA, kB, kC, kAA, kAB, kAC, kBB, kBC, kCC };  // a, b, c, and the upper half of S
  static constexpr std::size_t kNumbers = 9;
  // A greater importance of an example counts as this one.
  static constexpr float kMostImportance = 32;
  // The first state of a node: a = 1, b = 0, c = 1.5, and S = diag(0.1, 0.5, 0.1).
  static constexpr std::array<float, kNumbers> kFirst = {1, 0, 1.5F, 0.1F, 0, 0, 0.5F, 0, 0.1F};
  static constexpr std::size_t kFamilies = 5;         // of the nodes 1, 4, 5, 6 and 7
  static constexpr std::size_t kFloatsOfFamily = 32;  // a pair of cache lines
  // Where the numbers of the node of a lane begin: none of the loads 4 + 4 + 1 crosses a cache line. Lane 0, which
  // belongs to no node, is given those of lane 1.
  static constexpr std::array<std::uint8_t, kLanes> kOffsets = [] {
    constexpr std::array<std::uint8_t, 3> kMembers = {0, 12, 22};
    std::array<std::uint8_t, kLanes> offsets{};
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
      const std::size_t family = lane < 4 ? 0 : lane < 8 ? lane - 3 : lane / 2 - 3;
      const std::size_t member = lane < 4 ? lane - 1 : lane < 8 ? 0 : 1 + lane % 2;
      offsets[lane] = static_cast<std::uint8_t>(family * kFloatsOfFamily + kMembers[member]);
    }
    return offsets;
  }();

  std::array<float, kFamilies * kFloatsOfFamily> floats;

  float* node(std::size_t lane) { return floats.data() + kOffsets[lane]; }
  const float* node(std::size_t lane) const { return floats.data() + kOffsets[lane]; }
  constexpr float& at(std::size_t lane, std::size_t number) { return floats[kOffsets[lane] + number]; }
  constexpr float at(std::size_t lane, std::size_t number) const { return floats[kOffsets[lane] + number]; }

  void prefetch() const {
    for (std::size_t family = 0; family < kFamilies; ++family) prefetch_family(family);
  }
  // Prefetches the nodes above a position 1 .. 31 of the block.
  void prefetch_above(std::uint32_t position) const {
    prefetch_family(0);
    if (position < 8) return;
    prefetch_family((position >= 16 ? position / 4 : position / 2) - 3);
  }

 private:
  void prefetch_family(std::size_t family) const {
    __builtin_prefetch(floats.data() + family * kFloatsOfFamily, 1);
    __builtin_prefetch(floats.data() + family * kFloatsOfFamily + kFloatsOfFamily / 2, 1);
  }
};
static_assert(sizeof(Calibrator) == 640);  // ten cache lines

// With Calibrator::kFirst at every node.
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
  // Adds the calibrator of a block, or finds it. A new one begins with S / h, h = importance in [1, kMostImportance];
  // see train_blocks() for the reason.
  Calibrator& add(Partition partition, std::uint64_t key, float importance = 1);
  // To be called some time before find() of the key.
  void prefetch_slot(std::uint64_t key) const { __builtin_prefetch(&slots_[(key >> 1) & (slots_.size() - 1)]); }
  std::size_t size(Partition partition) const { return parts_[partition].size(); }
  // The keys of the partition's blocks, ascending.
  std::vector<std::uint64_t> keys(Partition partition) const;
  void clear(Partition partition);

  // A sum over the partition's blocks, as the digest of its rows.
  std::uint64_t digest(Partition partition) const;
  bool finite(Partition partition) const;
  std::uint64_t bytes() const;

 private:
  // A slot of a hash table. Keys are odd hashes; a search begins at the key without its lowest bit.
  struct Slot {
    std::uint64_t key = 0;
    Calibrator* calibrator = nullptr;
  };

  Calibrator* take_unused();
  void insert(const Slot& slot);
  void make_index(std::size_t slots);

  std::vector<std::vector<Slot>> parts_;         // by partition
  std::vector<Slot> slots_{2};                   // a power of two; at most half are used
  std::vector<ZeroedArray<Calibrator>> chunks_;  // the calibrators, on huge pages
  std::vector<Calibrator*> unused_;              // of the chunks
  std::size_t used_ = 0;
};

}  // namespace cpt
