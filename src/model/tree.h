// The topology of the tree and the number of leaves below every node. Knows nothing of weights.
//
// Nodes live in blocks of up to 15: a block is a 4-level subtree in heap order. A *place* is a position inside a block,
// 1 .. 31: place p hangs below slot p / 2 on side p % 2 (1 = right); a node at place p <= 15 is slot p. Place 1 is
// where the block itself hangs. Below slots 8 .. 15 come the places 16 .. 31, which hold a leaf or another block.
//
//                       1
//               2               3            slots 1 .. 15: nodes, each with a lane in every line of the block
//           4       5       6       7
//         8   9   10 11   12 13   14 15
//        16 17 ...                   30 31   places 16 .. 31: leaves, or the blocks below
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/labels.h"
#include "model/partition.h"

namespace cpt {

using BlockId = std::uint32_t;

// What a path does in one block: it leaves the block (or ends in it) at this place.
struct Hop {
  BlockId block = 0;
  std::uint8_t place = 0;  // 1 .. 31; 1 only where the tree has a single label
};

// What hangs at a place.
class Child {
 public:
  enum class Kind : std::uint8_t { kNothing, kNode, kLeaf, kBlock };
  Child() = default;
  static Child node() { return {Kind::kNode, 0}; }
  static Child leaf(LabelId label) { return {Kind::kLeaf, label}; }
  static Child block(BlockId block) { return {Kind::kBlock, block}; }

  Kind kind() const { return static_cast<Kind>(bits_ >> 30); }
  LabelId label() const { return bits_ & kIdMask; }  // of a leaf
  BlockId block() const { return bits_ & kIdMask; }  // of a block
  bool operator==(const Child&) const = default;

 private:
  static constexpr std::uint32_t kIdMask = (1U << 30) - 1;
  Child(Kind kind, std::uint32_t id) : bits_(static_cast<std::uint32_t>(kind) << 30 | id) {}
  std::uint32_t bits_ = 0;
};

// Where a block hangs, and what places its weights. Small and apart from the rest: a path reads nothing else.
struct BlockLink {
  std::uint64_t key =
      0;               // odd; distinct for each block with all but negligible probability, a function of where it hangs
  BlockId parent = 0;  // of block 0: itself
  Partition partition = 0;
  std::uint8_t parent_place = 0;  // the place in the parent, 16 .. 31; of block 0: 1
  std::uint8_t level = 0;         // levels of blocks above, at most 255 (deeper ones also say 255)
};

struct BlockContent {
  std::array<Child, 32> child{};           // by place
  std::array<std::uint32_t, 32> leaves{};  // by place: number of leaves there and below
};

// Labels are leaves; label i is the i-th that was added. Reading from several threads is safe while nobody adds.
class Tree {
 public:
  Tree();

  std::size_t labels() const { return leaves_.size(); }
  std::size_t blocks() const { return links_.size(); }
  bool empty() const { return leaves_.empty(); }

  // The first label becomes the whole tree. Requires empty().
  LabelId add_first();
  // The next label joins by splitting the leaf of `old`: a node takes the leaf's place, `old` hangs left of it and the
  // new label right. The node stays in the block of the leaf if its slot fits there, else it opens a block.
  LabelId split(LabelId old);

  Hop leaf(LabelId label) const { return leaves_[label]; }
  // The label whose leaf was split for this one; kNoLabel for label 0. The tree is a function of these alone.
  LabelId split_for(LabelId label) const { return splits_[label]; }
  const BlockLink& link(BlockId block) const { return links_[block]; }
  const BlockContent& content(BlockId block) const { return contents_[block]; }

  // The hops from the root block to the leaf's. The order is root first.
  void path(LabelId label, std::vector<Hop>& path) const;
  // The number of nodes above the leaf.
  std::uint32_t depth(LabelId label) const;

  // A digest of the topology: equal trees, and only they, have equal digests (up to 64-bit collisions).
  std::uint64_t digest() const;

 private:
  BlockId open_block(Hop place);

  std::vector<BlockLink> links_;
  std::vector<BlockContent> contents_;
  std::vector<Hop> leaves_;      // by label
  std::vector<LabelId> splits_;  // by label
};

// Number of levels between place 1 and this one: 0 for 1, 1 for 2 and 3, ... 4 for 16 .. 31.
std::uint32_t place_depth(std::uint8_t place);

}  // namespace cpt
