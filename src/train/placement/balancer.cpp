#include "train/placement/balancer.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "comm/collectives.h"
#include "train/placement/partition_traffic.h"

namespace cpt {

namespace {

// To pack a row of a partition, send it and have memory for it elsewhere takes as long as so many tasks of rows.
constexpr std::uint64_t kVisitsToMoveARow = 8;

// While partitions move, no round is under way: to come to rest and to get going again takes as long as so many rounds.
constexpr std::uint64_t kRoundsToRest = 4;

using RankWork = std::vector<std::uint64_t>;

std::uint64_t sum_of(const RankWork& work) { return std::accumulate(work.begin(), work.end(), std::uint64_t{0}); }

// The most that a rank does, over the mean of all; 1 where nobody does anything.
double unevenness(const RankWork& work) {
  const auto sum = static_cast<double>(sum_of(work));
  const auto most = static_cast<double>(*std::ranges::max_element(work));
  return sum > 0 ? most * static_cast<double>(work.size()) / sum : 1;
}

std::uint64_t most_work(const Owners& owners, const Loads& loads, int ranks) {
  return std::ranges::max(work_by_rank(owners, loads, ranks));
}

// What the slowest rank would have had less to do.
std::uint64_t saved(const Owners& now, const Owners& better, const Loads& loads, int ranks) {
  const std::uint64_t most_now = most_work(now, loads, ranks);
  return most_now - std::min(most_now, most_work(better, loads, ranks));
}

std::uint64_t rows_to_move(const Owners& from, const Owners& to, const WeightTable& weights) {
  std::uint64_t rows = 0;
  for (Partition p = 0; p < kPartitions; ++p) {
    if (from[p] != to[p]) rows += weights.region(p).rows;
  }
  return rows;
}

}  // namespace

Balancer::Balancer(Communicator& comm)
    : comm_(comm),
      owners_(first_owners(comm.size())),
      next_(owners_),
      by_rank_(static_cast<std::size_t>(comm.size())) {}

void Balancer::end_interval(const IntervalLoads& mine) {
  mine_ = mine;
  sent_ = {mine_.of, mine_.busy};
  loads_under_way_ = comm_.start_all_gather(bytes_of(sent_), std::as_writable_bytes(std::span(by_rank_)));
}

// The owners from now on.
Owners Balancer::wished(const Loads& latest, const WeightTable& weights) {
  const int ranks = comm_.size();
  const Owners due = balanced(owners_, loads_, ranks);
  if (due != owners_) return due;
  const Owners better = balanced(owners_, loads_, ranks, kExcessLeft);
  waited_ += saved(owners_, better, latest, ranks);
  const std::uint64_t price = rows_to_move(owners_, better, weights) * kVisitsToMoveARow +
                              most_work(owners_, latest, ranks) / mine_.rounds * kRoundsToRest;
  return price <= waited_ ? better : owners_;
}

void Balancer::wait_for_loads() {
  comm_.wait(*loads_under_way_, "interval: loads");
  loads_under_way_.reset();
}

void Balancer::abort_pass() {
  if (is_to_decide()) wait_for_loads();
}

bool Balancer::decide(const WeightTable& weights) {
  wait_for_loads();
  const Loads latest = timed_loads(owners_, by_rank_);
  for (Partition p = 0; p < kPartitions; ++p) loads_[p] = loads_[p] / 2 + latest[p];
  next_ = wished(latest, weights);
  const std::vector<std::uint64_t> work = work_by_rank(owners_, loads_, comm_.size());
  latest_ = {};
  latest_.busiest_rank = static_cast<int>(std::ranges::max_element(work) - work.begin());
  latest_.busiest_over_mean = unevenness(work);
  latest_.expected_over_mean = unevenness(work_by_rank(next_, loads_, comm_.size()));
  latest_.limited_by_root = limited_by_root(next_, loads_, comm_.size());
  for (Partition p = 0; p < kPartitions; ++p) {
    if (owners_[p] != next_[p]) latest_.moves.push_back({p, owners_[p], next_[p]});
  }
  return !latest_.moves.empty();
}

void Balancer::move(WeightTable& weights) {
  move_partitions(comm_, weights, owners_, next_);
  owners_ = next_;
  waited_ = 0;
}

}  // namespace cpt
