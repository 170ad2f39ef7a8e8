// Which rank owns which partition of the model. Pure functions on integers: every rank computes the same.
//
// A rank owns whole partitions. The root's partition is always rank 0's, which coordinates too. A level-1 partition and
// the sixteen deep ones below it are called a subtree here: where one rank owns a whole subtree, an example travels to
// one rank for both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/partition.h"

namespace cpt {

using Owners = std::array<int, kPartitions>;           // ranks in [0, ranks)
using Loads = std::array<std::uint64_t, kPartitions>;  // examples x lines touched; their sum fits in 64 bits

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

// The owners after an epoch with these loads. `now`, unless a rank that has something to give exceeds the mean by more
// than 20 %. Else partitions move one by one from the most loaded rank to the least loaded, those first that even the
// two best, until the slowest is within 5 % of the mean or nothing helps. The root's partition never moves, and a
// partition that alone exceeds the mean (it holds a hot label) only away from the root's or a heavier one. A rank of
// which no move would lower the larger of the two loads keeps what it has, and the next most loaded one gives.
// Balancing again with the same loads changes nothing.
Owners balanced(const Owners& now, const Loads& loads, int ranks);

// The sum over the partitions that each rank owns.
std::vector<std::uint64_t> load_by_rank(const Owners& owners, const Loads& loads, int ranks);

// Whether the root holds up the job, so that more ranks would not speed it up: its rank has no other partition with
// load, is the most loaded and exceeds the mean of all by more than 20 %.
bool limited_by_root(const Owners& owners, const Loads& loads, int ranks);

}  // namespace cpt
