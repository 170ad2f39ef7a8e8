// Which rank owns which partition of the model. Pure functions on integers: every rank computes the same.
//
// A rank owns whole partitions. The root's partition is always rank 0's, which coordinates too. A level-1 partition and
// the sixteen deep ones below it are called a subtree here: where one rank owns a whole subtree, an example travels to
// one rank for both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/tree/partition.h"

namespace cpt {

using Owners = std::array<int, kPartitions>;           // ranks in [0, ranks)
using Loads = std::array<std::uint64_t, kPartitions>;  // examples x rows touched; their sum fits in 64 bits

// What a rank does for partition p, in rows: loads[p] and what a visit costs beside its rows, which is about half of
// what a block's rows do, wherever one begins: in the root's partition, where the ledger is kept too (five eighths
// in all), and where the owner is not that of the partition above, a quarter where it is a deep one, of more blocks.
std::uint64_t work_of(Partition partition, const Owners& owners, const Loads& loads);
// The sum over the partitions that each rank owns.
std::vector<std::uint64_t> work_by_rank(const Owners& owners, const Loads& loads, int ranks);

// Before any load is known: from what examples do on average, 1 visit to the root's block, 1 to one of level 1, 2.5 to
// deep ones. Subtrees stay together unless the slowest rank would then exceed the mean by more than 10 %, leaving out
// rank 0 where the root alone is too much for it; those that must be split are as few as that takes. With more ranks
// than there is work for, some own nothing. ranks >= 1.
Owners first_owners(int ranks);

// A round leads its examples on their way in three stages, from owner to owner. A partition whose owner has the one
// above it too is passed in the stage of that one, right after it; else in the stage after.
enum class Stage : std::uint8_t { kRoot, kLevel1, kDeep };
using Stages = std::array<Stage, kPartitions>;
Stages stages_by(const Owners& owners);

// By how many percent a rank may exceed the mean work: what calls for a change at once, and what a change leaves.
inline constexpr unsigned kExcessDue = 20;
inline constexpr unsigned kExcessLeft = 5;

// The owners after a sync interval with these loads. `now`, unless a rank that has something to give exceeds the mean
// work by more than `due` percent. Else partitions move from the rank with most work to the one with least: a subtree
// (what that rank has of it) or a single partition at a time, whatever evens the two best, until the slowest is within
// kExcessLeft of the mean or nothing helps. The root's partition never moves, and a partition that alone exceeds the
// mean (it holds a hot label) only away from the root's or a heavier one. A rank of which no move would lower the
// larger of the two sums keeps what it has, and the next one gives. Balancing again with the same loads changes
// nothing.
Owners balanced(const Owners& now, const Loads& loads, int ranks, unsigned due = kExcessDue);

// Whether the root holds up the job, so that more ranks would not speed it up: its rank has no other partition with
// load, has the most work and exceeds the mean of all by more than 20 %.
bool limited_by_root(const Owners& owners, const Loads& loads, int ranks);

}  // namespace cpt
