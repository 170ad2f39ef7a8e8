// Blocks of nodes that hang below one another: what a whole tree and a single partition of one have in common. Knows
// nothing of weights, and of labels only their numbers.
//
// Nodes live in blocks of up to 15: a block is a 4-level subtree in heap order. A *place* is a position inside a block,
// 1 .. 31: place p hangs below slot p / 2 on side p % 2 (1 = right); a node at place p <= 15 is slot p. Place 1 is
// where the block itself hangs. Below slots 8 .. 15 come the places 16 .. 31, which hold a leaf or another block.
//
//                       1
//               2               3            slots 1 .. 15: nodes, each with a lane in every row of the block
//           4       5       6       7
//         8   9   10 11   12 13   14 15
//        16 17 ...                   30 31   places 16 .. 31: leaves, or the blocks below
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "cpt/hashing.h"
#include "model/tree/labels.h"
#include "model/tree/partition.h"

namespace cpt {

using BlockId = std::uint32_t;
inline constexpr BlockId kNotLookedUp = 0xffffffffU;

// Places up to this one can be slots, that is, hold a node.
inline constexpr std::uint8_t kLastSlot = 15;

// What a path does in one block: it leaves the block (or ends in it) at this place.
struct PathStep {
  BlockId block = 0;       // kNotLookedUp where only the place is known
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
  // A block that is not among these blocks, because it belongs to another partition.
  static Child outside() { return block(kIdMask); }

  Kind kind() const { return static_cast<Kind>(bits_ >> 30); }
  // A leaf or a block: where paths leave this block.
  bool is_exit() const { return kind() >= Kind::kLeaf; }
  LabelId label() const { return bits_ & kIdMask; }  // of a leaf
  BlockId block() const { return bits_ & kIdMask; }  // of a block
  bool is_outside() const { return bits_ == outside().bits_; }
  bool operator==(const Child&) const = default;

 private:
  static constexpr std::uint32_t kIdMask = (1U << 30) - 1;
  Child(Kind kind, std::uint32_t id) : bits_(static_cast<std::uint32_t>(kind) << 30 | id) {}
  std::uint32_t bits_ = 0;
};

// Where a block hangs, and what places its weights. Small and apart from the rest: a path reads nothing else.
struct BlockHeader {
  std::uint64_t key =
      0;               // odd; distinct for each block with all but negligible probability, a function of where it hangs
  BlockId parent = 0;  // of block 0: itself
  Partition partition = 0;
  std::uint8_t parent_place = 0;  // the place in the parent, 16 .. 31; of block 0: 1
  std::uint8_t level = 0;         // levels of blocks above, at most 255 (deeper ones also say 255)
};

struct BlockNodes {
  std::array<Child, 32> child{};           // by place
  std::array<std::uint32_t, 32> leaves{};  // by place: number of leaves there and below
  // Bit by place: whether something hangs there, or at a place above from which only left turns lead here.
  std::uint32_t occupied = 0;
};

// Number of levels between place 1 and this one: 0 for 1, 1 for 2 and 3, ... 4 for 16 .. 31.
constexpr std::uint32_t place_depth(std::uint8_t place) {
  return static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(place))) - 1;
}

// The key of a block that hangs at a place of a block with this key: from where it hangs, not from when it was opened,
// so that whoever leads an example there knows where its weights are.
constexpr std::uint64_t key_below(std::uint64_t key, std::uint8_t place) { return mix(key + place) | 1; }

// The block that everything hangs in.
BlockHeader root_link();
// A block that hangs at a place 16 .. 31 of `parent`, whose own number is `parent_id`.
BlockHeader link_below(const BlockHeader& parent, BlockId parent_id, std::uint8_t place);
// The block on top of a partition, as block 0.
BlockHeader top_link(Partition partition);

// Block 0 is on top; the others hang below it. Reading from several threads is safe while nobody changes anything.
class Blocks {
 public:
  // One empty block.
  explicit Blocks(const BlockHeader& top) : links_{top}, contents_(1) {}

  std::size_t size() const { return links_.size(); }
  const BlockHeader& link(BlockId block) const { return links_[block]; }
  const BlockNodes& content(BlockId block) const { return contents_[block]; }
  // Of memory that they hold.
  std::uint64_t bytes() const {
    return links_.capacity() * sizeof(BlockHeader) + contents_.capacity() * sizeof(BlockNodes);
  }

  // Hangs something at a place, and nothing is counted.
  void hang(PathStep at, Child child, std::uint32_t leaves);
  // Adds an empty block at a place 16 .. 31, which held one leaf.
  BlockId open(PathStep at);
  // A node takes a place 1 .. 15, `left` hangs left of it and `right` right; the second leaf is counted here and in all
  // blocks above.
  void split(PathStep node, LabelId left, LabelId right);
  // One more leaf at or below a place is counted there and in all blocks above.
  void count_leaf(PathStep at);

 private:
  std::vector<BlockHeader> links_;
  std::vector<BlockNodes> contents_;
};

}  // namespace cpt
