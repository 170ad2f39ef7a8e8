#include "train/ownership.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>

namespace cpt {

namespace {

// In units of which the root's block, visited once per example, has 512.
constexpr std::uint64_t kRootLoad = 512;
constexpr std::uint64_t kLevel1Load = kRootLoad / kLevel1Partitions;
constexpr std::uint64_t kDeepLoad = kRootLoad * 5 / 2 / kDeepPartitions;
constexpr std::uint64_t kSubtreeLoad = kLevel1Load + 16 * kDeepLoad;

// By how much a rank may exceed the mean, in percent.
constexpr unsigned kFirstExcess = 10;
constexpr unsigned kExcessDue = 20;
constexpr unsigned kExcessLeft = 5;

constexpr int kRootOwner = 0;

using RankLoads = std::vector<std::uint64_t>;

// Whether one of the loads exceeds their mean by more than so many percent.
bool exceeds(std::uint64_t load, const RankLoads& all, unsigned percent) {
  __extension__ using Wide = unsigned __int128;
  const std::uint64_t total = std::accumulate(all.begin(), all.end(), std::uint64_t{0});
  return static_cast<Wide>(load) * all.size() * 100 > static_cast<Wide>(total) * (100 + percent);
}

int least_loaded(const RankLoads& loads) {
  return static_cast<int>(std::min_element(loads.begin(), loads.end()) - loads.begin());
}

Partition deep_below(Partition level1, Partition exit) {
  return partition_below(level1, 1, static_cast<std::uint8_t>(16 + exit));
}

// Gives out the heaviest first, each to the rank that has least: whole subtrees, then the partitions of those that are
// split, which are the first ones.
class FirstDeal {
 public:
  FirstDeal(int ranks, Partition split) : loads_(static_cast<std::size_t>(ranks)) {
    owners_[kRootPartition] = kRootOwner;
    loads_[kRootOwner] = kRootLoad;
    for (Partition subtree = 1; subtree <= kLevel1Partitions; ++subtree) {
      if (subtree > split) give_subtree(subtree);
    }
    for (Partition subtree = 1; subtree <= split; ++subtree) owners_[subtree] = take(kLevel1Load);
    for (Partition subtree = 1; subtree <= split; ++subtree) {
      for (Partition exit = 0; exit < 16; ++exit) owners_[deep_below(subtree, exit)] = take(kDeepLoad);
    }
  }

  // Nothing can be done about a root that is more than its share.
  bool is_even() const {
    const bool root_alone = loads_[kRootOwner] == kRootLoad;
    for (std::size_t rank = 0; rank < loads_.size(); ++rank) {
      if (rank == kRootOwner && root_alone) continue;
      if (exceeds(loads_[rank], loads_, kFirstExcess)) return false;
    }
    return true;
  }

  const Owners& owners() const { return owners_; }

 private:
  int take(std::uint64_t load) {
    const int rank = least_loaded(loads_);
    loads_[static_cast<std::size_t>(rank)] += load;
    return rank;
  }

  void give_subtree(Partition subtree) {
    owners_[subtree] = take(kSubtreeLoad);
    for (Partition exit = 0; exit < 16; ++exit) owners_[deep_below(subtree, exit)] = owners_[subtree];
  }

  Owners owners_{};
  RankLoads loads_;
};

// Moves partitions until the ranks are even.
class Balancer {
 public:
  Balancer(const Owners& now, const Loads& loads, int ranks)
      : owners_(now), loads_(loads), by_rank_(load_by_rank(now, loads, ranks)) {}

  // One move, if a rank that has something to give exceeds the mean by more than so many percent.
  bool move_one(unsigned excess) {
    const std::optional<Partition> given = find_given(excess);
    if (!given) return false;
    const int to = least_loaded(by_rank_);
    by_rank_[static_cast<std::size_t>(owners_[*given])] -= loads_[*given];
    by_rank_[static_cast<std::size_t>(to)] += loads_[*given];
    owners_[*given] = to;
    return true;
  }

  const Owners& owners() const { return owners_; }

 private:
  std::optional<Partition> find_given(unsigned excess) const {
    std::vector<std::size_t> ranks(by_rank_.size());
    std::iota(ranks.begin(), ranks.end(), std::size_t{0});
    std::stable_sort(ranks.begin(), ranks.end(),
                     [this](std::size_t a, std::size_t b) { return by_rank_[a] > by_rank_[b]; });
    for (const std::size_t rank : ranks) {
      if (!exceeds(by_rank_[rank], by_rank_, excess)) break;
      if (const auto best = best_to_give(static_cast<int>(rank))) return best;
    }
    return std::nullopt;
  }

  // The partition of a rank whose move to the least loaded one leaves the larger of the two loads lowest.
  std::optional<Partition> best_to_give(int from) const {
    const std::uint64_t giver = by_rank_[static_cast<std::size_t>(from)];
    const std::uint64_t taker = *std::min_element(by_rank_.begin(), by_rank_.end());
    const Partition kept = kept_by(from);
    std::optional<Partition> best;
    std::uint64_t lowest = giver;
    for (Partition partition = 1; partition < kPartitions; ++partition) {
      if (owners_[partition] != from || partition == kept) continue;
      const std::uint64_t larger = std::max(giver - loads_[partition], taker + loads_[partition]);
      if (larger >= lowest) continue;
      lowest = larger;
      best = partition;
    }
    return best;
  }

  // What a rank does not give: the root, else the heaviest partition if that alone exceeds the mean. Wherever it went,
  // the trouble would go with it; its rank gives the others instead.
  Partition kept_by(int rank) const {
    if (rank == owners_[kRootPartition]) return kRootPartition;
    Partition heaviest = kRootPartition;
    std::uint64_t most = 0;
    for (Partition partition = 1; partition < kPartitions; ++partition) {
      if (owners_[partition] != rank || loads_[partition] <= most) continue;
      most = loads_[partition];
      heaviest = partition;
    }
    return exceeds(most, by_rank_, 0) ? heaviest : kRootPartition;
  }

  Owners owners_;
  const Loads& loads_;
  RankLoads by_rank_;
};

}  // namespace

Owners first_owners(int ranks) {
  for (Partition split = 0; split < kLevel1Partitions; ++split) {
    const FirstDeal deal(ranks, split);
    if (deal.is_even()) return deal.owners();
  }
  return FirstDeal(ranks, kLevel1Partitions).owners();
}

Stages stages_by(const Owners& owners) {
  Stages stages{};
  for (Partition partition = 1; partition < kPartitions; ++partition) {
    const Partition above = partition_above(partition);
    const unsigned hops = static_cast<unsigned>(stages[above]) + (owners[partition] == owners[above] ? 0 : 1);
    stages[partition] = static_cast<Stage>(hops);
  }
  return stages;
}

Owners balanced(const Owners& now, const Loads& loads, int ranks) {
  Balancer balancer(now, loads, ranks);
  if (!balancer.move_one(kExcessDue)) return now;
  while (balancer.move_one(kExcessLeft)) {
  }
  return balancer.owners();
}

std::vector<std::uint64_t> load_by_rank(const Owners& owners, const Loads& loads, int ranks) {
  RankLoads by_rank(static_cast<std::size_t>(ranks));
  for (Partition partition = 0; partition < kPartitions; ++partition) {
    by_rank[static_cast<std::size_t>(owners[partition])] += loads[partition];
  }
  return by_rank;
}

bool limited_by_root(const Owners& owners, const Loads& loads, int ranks) {
  const RankLoads by_rank = load_by_rank(owners, loads, ranks);
  const std::uint64_t of_root = by_rank[static_cast<std::size_t>(owners[kRootPartition])];
  const bool alone = of_root == loads[kRootPartition];
  const bool most = of_root == *std::max_element(by_rank.begin(), by_rank.end());
  return alone && most && exceeds(of_root, by_rank, kExcessDue);
}

}  // namespace cpt
