// Which rank owns which partition of the model. Pure functions on integers: every rank computes the same.
//
// A rank owns whole partitions. That of the first tree's root is always rank 0's, which coordinates too; those of the
// other roots never move either. A level-1 partition and the sixteen deep ones below it are called a subtree here:
// where one rank owns a whole subtree, an example travels to one rank for both.
#pragma once

#include <cstdint>
#include <vector>

#include "cpt/trainer.h"
#include "model/tree/partition.h"

namespace cpt {

// By partition, of all trees.
using Owners = std::vector<int>;           // ranks in [0, ranks)
using Loads = std::vector<std::uint64_t>;  // examples x rows touched; their sum fits in 64 bits

// Whether the partition of a root has one owner, as all others do, or every rank has a copy of it. Copies share the
// work of roots evenly, so it does not count as load; the owner's copy is the one that takes new labels and is saved.
enum class Roots : std::uint8_t { kOwned, kOnEveryRank };

// Of a run with these options whose weights are partitioned.
Roots roots_of(const TrainingOptions& options);

// The work of a rank for partition p, in rows: loads[p], and the cost of tasks that begin there. A task begins in the
// root's partition (5/8 of its load, because the ledger is kept there too) and where the partition above has another
// owner (1/2 at level 1, 1/4 below, where paths have more blocks).
std::uint64_t work_of(Partition partition, const Owners& owners, const Loads& loads);
using RankWork = std::vector<std::uint64_t>;  // by rank
// The sum over the partitions that each rank owns.
RankWork work_by_rank(const Owners& owners, const Loads& loads, int ranks);

// The owners before any load is known. An average example visits the root's block, one block of level 1 and 2.5 deep
// blocks. As few subtrees as possible are split: only those without which the slowest rank would exceed the mean by
// more than 10 % (the root's rank aside if the root alone is too much for it). With more ranks than work some own
// nothing. Each of several trees has ranks of its own, as many as the others, as far as there are enough. ranks >= 1.
Owners first_owners(int ranks, int trees, Roots roots = Roots::kOwned);

// By rank: whether it reads shards. All do, unless by average loads a root is more than the share of a rank: then the
// owners of roots do nothing else, because every example has to pass them.
std::vector<bool> readers_beside_roots(int ranks, int trees, Roots roots);

// A round takes its examples from owner to owner in three stages. A partition is passed in the stage of the one above
// it if both have the same owner, else in the next stage; copies of roots have a stage of their own.
enum class Stage : std::uint8_t { kRoot, kLevel1, kDeep };
using Stages = std::vector<Stage>;
Stages stages_by(const Owners& owners, Roots roots = Roots::kOwned);

// By how many percent a rank may exceed the mean work: before partitions move at once, and after a move.
inline constexpr unsigned kExcessDue = 20;
inline constexpr unsigned kExcessLeft = 5;

// The owners after a sync interval with these loads: `now`, unless a rank that can give something exceeds the mean work
// by more than `due` percent. Then partitions move from the rank with the most work to the one with the least, a
// subtree (the giver's part of it) or a single partition at a time, always the one that evens these two best, until the
// slowest is within kExcessLeft of the mean or no move helps. Partitions of roots never move. A partition that alone
// exceeds the mean (it holds a hot label) moves only away from a root's or from a heavier one. If no move would lower
// the larger sum of the two ranks, the next busiest rank gives. Balancing again with the same loads changes nothing.
Owners balanced(const Owners& now, const Loads& loads, int ranks, unsigned due = kExcessDue);

// Whether a root limits the job, so that more ranks would not speed it up: its rank has no other load, has the most
// work and exceeds the mean by more than 20 %.
bool limited_by_root(const Owners& owners, const Loads& loads, int ranks);

}  // namespace cpt
