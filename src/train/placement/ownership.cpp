#include "train/placement/ownership.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <optional>

namespace cpt {

namespace {

// Average loads. The root's block, which every example visits once, has 512 units.
constexpr std::uint64_t kRootLoad = 512;
constexpr std::uint64_t kLevel1Load = kRootLoad / kLevel1Partitions;
constexpr std::uint64_t kDeepLoad = kRootLoad * 5 / 2 / kDeepPartitions;

Loads average_loads(Roots roots) {
  const std::uint64_t kByLevel[] = {roots == Roots::kOwned ? kRootLoad : 0, kLevel1Load, kDeepLoad};
  Loads loads(kPartitions);
  for (Partition partition = 0; partition < kPartitions; ++partition) {
    loads[partition] = kByLevel[partition_level(partition)];
  }
  return loads;
}

constexpr unsigned kFirstExcess = 10;  // by which a rank may exceed the mean at first, in percent

constexpr int kRootOwner = 0;
constexpr std::size_t kDeepBelow = 16;  // of each level-1 partition

// Whether `work` exceeds the mean of all by more than `percent`.
bool exceeds(std::uint64_t work, const RankWork& all, unsigned percent) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t total = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  return static_cast<Wide>(work) * all.size() * 100 > static_cast<Wide>(total) * (100 + percent);
}

int least_of(const RankWork& all) { return static_cast<int>(std::min_element(all.begin(), all.end()) - all.begin()); }

Partition deep_below(Partition level1, std::size_t exit) {
  return partition_below(level1, 1, static_cast<std::uint8_t>(kDeepBelow + exit));
}

// Gives each partition of a tree to the rank with the least work, the heaviest first: whole subtrees, then the
// partitions of the first `split` subtrees.
class InitialPlacement {
 public:
  InitialPlacement(int ranks, Partition split, Roots roots)
      : owners_(kPartitions), loads_(average_loads(roots)), work_(static_cast<std::size_t>(ranks)) {
    give(kRootPartition, kRootOwner);
    for (Partition subtree = split + 1; subtree <= kLevel1Partitions; ++subtree) give_subtree(subtree, least_of(work_));
    for (Partition subtree = 1; subtree <= split; ++subtree) give(subtree, least_of(work_));
    for (Partition subtree = 1; subtree <= split; ++subtree) {
      for (std::size_t exit = 0; exit < kDeepBelow; ++exit) give(deep_below(subtree, exit), least_of(work_));
    }
  }

  // A root that is more than a rank's share cannot be helped.
  bool is_even() const {
    const bool root_alone = work_[kRootOwner] == work_of(kRootPartition, owners_, loads_);
    for (std::size_t rank = 0; rank < work_.size(); ++rank) {
      if (rank == kRootOwner && root_alone) continue;
      if (exceeds(work_[rank], work_, kFirstExcess)) return false;
    }
    return true;
  }

  const Owners& owners() const { return owners_; }

 private:
  // Call it after the partition above has an owner, on which the work depends.
  void give(Partition partition, int rank) {
    owners_[partition] = rank;
    work_[static_cast<std::size_t>(rank)] += work_of(partition, owners_, loads_);
  }

  void give_subtree(Partition subtree, int rank) {
    give(subtree, rank);
    for (std::size_t exit = 0; exit < kDeepBelow; ++exit) give(deep_below(subtree, exit), rank);
  }

  Owners owners_;
  Loads loads_;
  RankWork work_;
};

// Partitions that move together.
using PartitionGroup = std::vector<Partition>;

// Moves partitions until the work of ranks is even, each time those that even two ranks best.
class GreedyBalancer {
 public:
  GreedyBalancer(const Owners& now, const Loads& loads, int ranks)
      : owners_(now), loads_(loads), work_(work_by_rank(now, loads, ranks)) {}

  // Makes one move if a rank that can give something exceeds the mean by more than `excess` percent.
  bool move_one(unsigned excess) {
    std::vector<std::size_t> ranks(work_.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::stable_sort(ranks.begin(), ranks.end(), [this](std::size_t a, std::size_t b) { return work_[a] > work_[b]; });
    const int to = least_of(work_);
    for (const std::size_t rank : ranks) {
      if (!exceeds(work_[rank], work_, excess)) break;
      if (const auto best = best_to_give(static_cast<int>(rank), to)) {
        give(*best, to);
        return true;
      }
    }
    return false;
  }

  const Owners& owners() const { return owners_; }

 private:
  // The move that leaves the larger of the two sums lowest. Subtrees are considered first, because they split nothing.
  std::optional<PartitionGroup> best_to_give(int from, int to) {
    const std::optional<Partition> kept = kept_by(from);
    std::optional<PartitionGroup> best;
    std::uint64_t lowest = work(from);
    const auto consider = [&](const PartitionGroup& group) {
      if (group.empty() || (kept && std::ranges::count(group, *kept) > 0)) return;
      give(group, to);
      const std::uint64_t larger = std::max(work(from), work(to));
      give(group, from);
      if (larger >= lowest) return;
      lowest = larger;
      best = group;
    };
    for (Partition partition = 0; partition < partitions_in(owners_); ++partition) {
      if (partition_level(partition) == 1) consider(subtree_of(partition, from));
    }
    for (Partition partition = 0; partition < partitions_in(owners_); ++partition) {
      if (partition_level(partition) != 0 && owners_[partition] == from) consider({partition});
    }
    return best;
  }

  // The partition that a rank without a root keeps: the heaviest one, if that alone exceeds the mean, because any other
  // rank would be as uneven with it. Partitions of roots never move anyway.
  std::optional<Partition> kept_by(int rank) const {
    Partition heaviest = 0;
    std::uint64_t most = 0;
    for (Partition partition = 0; partition < partitions_in(owners_); ++partition) {
      if (owners_[partition] != rank) continue;
      if (partition_level(partition) == 0) return std::nullopt;
      if (loads_[partition] <= most) continue;
      most = loads_[partition];
      heaviest = partition;
    }
    if (!exceeds(most, work_, 0)) return std::nullopt;
    return heaviest;
  }

  // The partitions of a subtree that a rank owns.
  PartitionGroup subtree_of(Partition level1, int rank) const {
    PartitionGroup group;
    if (owners_[level1] == rank) group.push_back(level1);
    for (std::size_t exit = 0; exit < kDeepBelow; ++exit) {
      const Partition deep = deep_below(level1, exit);
      if (owners_[deep] == rank) group.push_back(deep);
    }
    return group;
  }

  void give(const PartitionGroup& group, int to) {
    for (const Partition partition : group) give(partition, to);
  }

  // The work for deep partitions depends on the owner above them.
  void give(Partition partition, int to) {
    const std::size_t below = partition_level(partition) == 1 ? kDeepBelow : 0;
    const auto each_touched = [&](auto count) {
      count(partition);
      for (std::size_t exit = 0; exit < below; ++exit) count(deep_below(partition, exit));
    };
    each_touched([this](Partition p) { work_of_owner(p) -= work_of(p, owners_, loads_); });
    owners_[partition] = to;
    each_touched([this](Partition p) { work_of_owner(p) += work_of(p, owners_, loads_); });
  }

  std::uint64_t work(int rank) const { return work_[static_cast<std::size_t>(rank)]; }
  std::uint64_t& work_of_owner(Partition partition) { return work_[static_cast<std::size_t>(owners_[partition])]; }

  Owners owners_;
  const Loads& loads_;
  RankWork work_;
};

}  // namespace

std::uint64_t work_of(Partition partition, const Owners& owners, const Loads& loads) {
  const std::uint64_t load = loads[partition];
  const std::size_t level = partition_level(partition);
  if (level == 0) return load + load / 2 + load / 8;
  if (owners[partition] == owners[partition_above(partition)]) return load;
  return load + load / (level == 1 ? 2 : 4);
}

RankWork work_by_rank(const Owners& owners, const Loads& loads, int ranks) {
  RankWork work(static_cast<std::size_t>(ranks));
  for (Partition partition = 0; partition < partitions_in(owners); ++partition) {
    work[static_cast<std::size_t>(owners[partition])] += work_of(partition, owners, loads);
  }
  return work;
}

namespace {

Owners first_owners_of_tree(int ranks, Roots roots) {
  for (Partition split = 0; split < kLevel1Partitions; ++split) {
    const InitialPlacement placement(ranks, split, roots);
    if (placement.is_even()) return placement.owners();
  }
  return InitialPlacement(ranks, kLevel1Partitions, roots).owners();
}

}  // namespace

Roots roots_of(const TrainingOptions& options) {
  return options.placement == Placement::kHybrid ? Roots::kOnEveryRank : Roots::kOwned;
}

Owners first_owners(int ranks, int trees, Roots roots) {
  Owners all;
  for (int tree = 0; tree < trees; ++tree) {
    const int first = ranks < trees ? tree % ranks : tree * ranks / trees;
    const int end = ranks < trees ? first + 1 : (tree + 1) * ranks / trees;
    for (const int owner : first_owners_of_tree(end - first, roots)) all.push_back(first + owner);
  }
  return all;
}

std::vector<bool> readers_beside_roots(int ranks, int trees, Roots roots) {
  std::vector<bool> readers(static_cast<std::size_t>(ranks), true);
  if (roots == Roots::kOnEveryRank) return readers;
  const Owners owners = first_owners(ranks, trees, roots);
  Loads loads;
  for (int tree = 0; tree < trees; ++tree) std::ranges::copy(average_loads(roots), std::back_inserter(loads));
  if (!limited_by_root(owners, loads, ranks)) return readers;
  for (Partition root = 0; root < partitions_in(owners); root += kPartitions)
    readers[static_cast<std::size_t>(owners[root])] = false;
  return readers;
}

Stages stages_by(const Owners& owners, Roots roots) {
  Stages stages(owners.size());
  for (Partition partition = 0; partition < partitions_in(owners); ++partition) {
    if (partition_level(partition) == 0) continue;
    const Partition above = partition_above(partition);
    const bool is_passed_on = roots == Roots::kOwned || partition_level(above) > 0;
    const unsigned hops =
        static_cast<unsigned>(stages[above]) + (is_passed_on && owners[partition] == owners[above] ? 0 : 1);
    stages[partition] = static_cast<Stage>(hops);
  }
  return stages;
}

Owners balanced(const Owners& now, const Loads& loads, int ranks, unsigned due) {
  GreedyBalancer balancer(now, loads, ranks);
  if (!balancer.move_one(due)) return now;
  while (balancer.move_one(kExcessLeft)) {
  }
  return balancer.owners();
}

bool limited_by_root(const Owners& owners, const Loads& loads, int ranks) {
  const RankWork work = work_by_rank(owners, loads, ranks);
  for (Partition root = 0; root < partitions_in(owners); root += kPartitions) {
    const std::uint64_t of_root = work[static_cast<std::size_t>(owners[root])];
    const bool alone = of_root == work_of(root, owners, loads);
    const bool most = of_root == *std::max_element(work.begin(), work.end());
    if (alone && most && exceeds(of_root, work, kExcessDue)) return true;
  }
  return false;
}

}  // namespace cpt
