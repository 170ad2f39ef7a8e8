// The blocks of nodes that trees are made of, linked from the top down. A whole tree is one set of blocks, each of its
// partitions another. Blocks know nothing of weights, and know labels by their ids only.
//
// A block is a 4-level subtree of up to 15 nodes in heap order. A *position* in a block is a number 1 .. 31: position
// p hangs below position p / 2, on side p % 2 (1 = right). Position 1 is the top of the block. Positions 1 .. 15 are
// also *slots*: each can hold a node, whose regressor has the lane of that number in every row of the block. Positions
// 16 .. 31 hold leaves or link to further blocks. The *exit* of a path is the position at which it leaves a block.
//
//                       1
//               2               3            slots 1 .. 15
//           4       5       6       7
//         8   9   10 11   12 13   14 15
//        16 17 ...                   30 31   positions 16 .. 31
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

inline constexpr std::uint8_t kLastSlot = 15;

// One block of a path, and the position at which the path leaves the block or ends in it.
struct PathStep {
  BlockId block = 0;          // kNotLookedUp where only the position is known
  std::uint8_t position = 0;  // 1 .. 31; 1 only where the tree has a single label
};

// The content of a position of a block.
class Child {
 public:
  enum class Kind : std::uint8_t { kNothing, kNode, kLeaf, kBlock };
  Child() = default;
  static Child node() { return {Kind::kNode, 0}; }
  static Child leaf(LabelId label) { return {Kind::kLeaf, label}; }
  static Child block(BlockId block) { return {Kind::kBlock, block}; }
  // A link to a block that is not in this set, because it belongs to another partition.
  static Child outside() { return block(kIdMask); }

  Kind kind() const { return static_cast<Kind>(bits_ >> 30); }
  // A leaf or a link: paths leave the block here.
  bool is_exit() const { return kind() >= Kind::kLeaf; }
  LabelId label() const { return bits_ & kIdMask; }  // of a leaf
  BlockId block() const { return bits_ & kIdMask; }  // of a link
  bool is_outside() const { return bits_ == outside().bits_; }
  bool operator==(const Child&) const = default;

 private:
  static constexpr std::uint32_t kIdMask = (1U << 30) - 1;
  Child(Kind kind, std::uint32_t id) : bits_(static_cast<std::uint32_t>(kind) << 30 | id) {}
  std::uint32_t bits_ = 0;
};

// Where a block hangs, and the key of its weights. Small and stored apart from the nodes: following a known path reads
// nothing else.
struct BlockHeader {
  std::uint64_t key = 0;  // odd; a function of where the block hangs; distinct with all but negligible probability
  BlockId parent = 0;     // of block 0: itself
  Partition partition = 0;
  std::uint8_t parent_position = 0;  // 16 .. 31; of block 0: 1
  std::uint8_t level = 0;            // number of blocks above, at most 255 (deeper blocks also say 255)
};

struct BlockNodes {
  std::array<Child, 32> child{};           // by position
  std::array<std::uint32_t, 32> leaves{};  // by position: number of leaves there and below
  // Bit by position: whether it holds something, or is reached by left turns alone from a position that does.
  std::uint32_t occupied = 0;
};

// Number of levels from position 1 down to this one: 0 for 1, 1 for 2 and 3, ... 4 for 16 .. 31.
constexpr std::uint32_t position_depth(std::uint8_t position) {
  return static_cast<std::uint32_t>(std::bit_width(static_cast<unsigned>(position))) - 1;
}

// The key of the block that hangs at a position of a block with this key. It depends on where the block hangs, not on
// when it was opened, so any rank that knows an example's path also knows where its weights are.
constexpr std::uint64_t key_below(std::uint64_t key, std::uint8_t position) { return mix(key + position) | 1; }

// The block at the top of a tree.
BlockHeader root_header(std::size_t tree = 0);
// A block at a position 16 .. 31 of `parent`, whose id is `parent_id`.
BlockHeader header_below(const BlockHeader& parent, BlockId parent_id, std::uint8_t position);
// The top block of a partition, as block 0.
BlockHeader top_header(Partition partition);

// Block 0 is the top; all others hang below it. Several threads may read while none writes.
class Blocks {
 public:
  // One empty block.
  explicit Blocks(const BlockHeader& top) : headers_{top}, nodes_(1) {}

  std::size_t size() const { return headers_.size(); }
  const BlockHeader& header(BlockId block) const { return headers_[block]; }
  const BlockNodes& nodes(BlockId block) const { return nodes_[block]; }
  Child child(PathStep at) const { return nodes_[at.block].child[at.position]; }
  // Memory held.
  std::uint64_t bytes() const {
    return headers_.capacity() * sizeof(BlockHeader) + nodes_.capacity() * sizeof(BlockNodes);
  }

  // Calls visit(step) for every step of the path that ends at `from`, from the last step up to the first.
  template <class Visit>
  void climb(PathStep from, Visit visit) const {
    for (PathStep at = from;;) {
      visit(at);
      if (at.block == 0) return;
      const BlockHeader& header = headers_[at.block];
      at = {header.parent, header.parent_position};
    }
  }
  // Appends the steps from the top to `end`, first step first.
  void append_path_to(PathStep end, std::vector<PathStep>& path) const;

  // Puts something at a position and records its number of leaves there; the counts above stay as they are.
  void set(PathStep at, Child child, std::uint32_t leaves);
  // Opens an empty block below a position 16 .. 31, which held one leaf.
  BlockId open(PathStep at);
  // Replaces a leaf by a node with two leaves, counts the added leaf, and returns the node. The node stays in the block
  // of the leaf if it has a slot there; otherwise it becomes the top of a block opened below.
  PathStep split(PathStep leaf, LabelId left, LabelId right);
  // Counts one more leaf at or below a position, there and in all blocks above.
  void count_leaf(PathStep at);

 private:
  std::vector<BlockHeader> headers_;
  std::vector<BlockNodes> nodes_;
};

}  // namespace cpt
