#include "train/balancer.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "comm/collectives.h"
#include "train/partition_traffic.h"

namespace cpt {

namespace {

// The load of the most loaded rank over the mean of all; 1 where there is none.
double unevenness(const std::vector<std::uint64_t>& loads) {
  const auto sum = static_cast<double>(std::accumulate(loads.begin(), loads.end(), std::uint64_t{0}));
  const auto most = static_cast<double>(*std::ranges::max_element(loads));
  return sum > 0 ? most * static_cast<double>(loads.size()) / sum : 1;
}

}  // namespace

Balancer::Balancer(Communicator& comm)
    : comm_(comm),
      owners_(first_owners(comm.size())),
      next_(owners_),
      by_rank_(static_cast<std::size_t>(comm.size())) {}

void Balancer::end_epoch(const Loads& mine) {
  mine_ = mine;
  loads_under_way_ = comm_.start_all_gather(bytes_of(mine_), std::as_writable_bytes(std::span(by_rank_)));
}

bool Balancer::decide() {
  comm_.wait(*loads_under_way_, "epoch: loads");
  loads_under_way_.reset();
  for (Partition p = 0; p < kPartitions; ++p) {
    loads_[p] /= 2;
    for (const Loads& of_rank : by_rank_) loads_[p] += of_rank[p];
  }
  next_ = balanced(owners_, loads_, comm_.size());
  const std::vector<std::uint64_t> by_rank = load_by_rank(owners_, loads_, comm_.size());
  latest_ = {};
  latest_.busiest_rank = static_cast<int>(std::ranges::max_element(by_rank) - by_rank.begin());
  latest_.busiest_over_mean = unevenness(by_rank);
  latest_.expected_over_mean = unevenness(load_by_rank(next_, loads_, comm_.size()));
  latest_.limited_by_root = limited_by_root(next_, loads_, comm_.size());
  for (Partition p = 0; p < kPartitions; ++p) {
    if (owners_[p] != next_[p]) latest_.moves.push_back({p, owners_[p], next_[p]});
  }
  return !latest_.moves.empty();
}

void Balancer::move(WeightTable& weights) {
  move_partitions(comm_, weights, owners_, next_);
  owners_ = next_;
}

}  // namespace cpt
