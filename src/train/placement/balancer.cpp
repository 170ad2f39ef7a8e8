#include "train/placement/balancer.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <vector>

#include "comm/collectives.h"
#include "train/placement/partition_traffic.h"

namespace cpt {

namespace {

// Packing a row, sending it and storing it elsewhere costs as much as this many visits of rows.
constexpr std::uint64_t kVisitsToMoveARow = 8;

// While partitions move, no round is in flight. Draining the pipeline and filling it again costs this many rounds.
constexpr std::uint64_t kRoundsToDrain = 4;

std::uint64_t sum_of(const RankWork& work) { return std::accumulate(work.begin(), work.end(), std::uint64_t{0}); }

// The most work of a rank over the mean; 1 if there is no work.
double unevenness(const RankWork& work) {
  const auto sum = static_cast<double>(sum_of(work));
  const auto most = static_cast<double>(*std::ranges::max_element(work));
  return sum > 0 ? most * static_cast<double>(work.size()) / sum : 1;
}

std::uint64_t most_work(const Owners& owners, const Loads& loads, int ranks) {
  return std::ranges::max(work_by_rank(owners, loads, ranks));
}

// By how much the work of the slowest rank would have been less.
std::uint64_t saved(const Owners& now, const Owners& better, const Loads& loads, int ranks) {
  const std::uint64_t most_now = most_work(now, loads, ranks);
  return most_now - std::min(most_now, most_work(better, loads, ranks));
}

std::uint64_t rows_to_move(const Owners& from, const Owners& to, const WeightTable& weights) {
  std::uint64_t rows = 0;
  for (Partition p = 0; p < partitions_in(from); ++p) {
    if (from[p] != to[p]) rows += weights.region(p).rows;
  }
  return rows;
}

constexpr std::uint64_t kLeastWork = 500'000;  // rows, about 10 ms
constexpr double kLeastOfRoot = 0.25;

std::uint64_t scaled(std::uint64_t load, double factor) {
  return static_cast<std::uint64_t>(static_cast<double>(load) * factor);
}

double ratio(std::uint64_t a, std::uint64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

}  // namespace

Loads timed_loads(const Owners& owners, const std::vector<RankLoads>& by_rank) {
  Loads loads(owners.size());
  std::uint64_t time = 0;
  for (const RankLoads& one : by_rank) {
    std::ranges::transform(loads, one.of, loads.begin(), std::plus());
    time += one.busy;
  }
  RankWork work = work_by_rank(owners, loads, static_cast<int>(by_rank.size()));
  std::uint64_t rows = sum_of(work);
  if (rows < kLeastWork * by_rank.size()) return loads;
  RankWork of_roots(by_rank.size());
  for (Partition root = 0; root < partitions_in(owners); root += kPartitions) {
    of_roots[static_cast<std::size_t>(owners[root])] += work_of(root, owners, loads);
  }
  // The ranks without a root show how long a row takes.
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    if (of_roots[rank] == 0) continue;
    rows -= work[rank];
    time -= by_rank[rank].busy;
    work[rank] -= of_roots[rank];
  }
  if (rows == 0 || time == 0 || sum_of(of_roots) == 0) return loads;

  std::vector<double> factors(by_rank.size(), 1);
  std::vector<double> root_factors(by_rank.size(), 1);
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    // The time of the rank in rows of those without a root.
    const double taken = ratio(by_rank[rank].busy, time) * static_cast<double>(rows);
    const auto of_others = static_cast<double>(work[rank]);
    const auto of_root = static_cast<double>(of_roots[rank]);
    if (of_roots[rank] == 0) {
      if (work[rank] != 0) factors[rank] = ratio(by_rank[rank].busy, time) * ratio(rows, work[rank]);
      continue;
    }
    // The rest is the root's; if it is too little, all rows of this rank are faster.
    factors[rank] = std::min(taken / (of_others + kLeastOfRoot * of_root), 1.);
    root_factors[rank] = (taken - of_others * factors[rank]) / of_root;
  }
  for (Partition p = 0; p < partitions_in(owners); ++p) {
    const auto owner = static_cast<std::size_t>(owners[p]);
    loads[p] = scaled(loads[p], partition_level(p) == 0 ? root_factors[owner] : factors[owner]);
  }
  return loads;
}

Balancer::Balancer(Communicator& comm, int trees, Roots roots)
    : comm_(comm), owners_(first_owners(comm.size(), trees, roots)), next_(owners_), loads_(owners_.size()) {}

void Balancer::end_interval(const IntervalLoads& mine) {
  mine_ = mine;
  sent_ = mine_.of;
  sent_.push_back(mine_.busy);
  received_.resize(sent_.size() * static_cast<std::size_t>(comm_.size()));
  loads_under_way_ =
      comm_.start_all_gather(std::as_bytes(std::span(sent_)), std::as_writable_bytes(std::span(received_)));
}

Owners Balancer::choose_owners(const Loads& latest, const WeightTable& weights) {
  const int ranks = comm_.size();
  Owners due = balanced(owners_, loads_, ranks);
  if (due != owners_) return due;
  const Owners better = balanced(owners_, loads_, ranks, kExcessLeft);
  waited_ += saved(owners_, better, latest, ranks);
  const std::uint64_t price = rows_to_move(owners_, better, weights) * kVisitsToMoveARow +
                              most_work(owners_, latest, ranks) / mine_.rounds * kRoundsToDrain;
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
  std::vector<RankLoads> by_rank;
  for (auto one = received_.begin(); one != received_.end(); one += static_cast<std::ptrdiff_t>(sent_.size())) {
    const auto end = one + static_cast<std::ptrdiff_t>(loads_.size());
    by_rank.push_back({{one, end}, *end});
  }
  const Loads latest = timed_loads(owners_, by_rank);
  for (Partition p = 0; p < partitions_in(loads_); ++p) loads_[p] = loads_[p] / 2 + latest[p];
  next_ = choose_owners(latest, weights);
  const RankWork work = work_by_rank(owners_, loads_, comm_.size());
  latest_ = {};
  latest_.busiest_rank = static_cast<int>(std::ranges::max_element(work) - work.begin());
  latest_.busiest_over_mean = unevenness(work);
  latest_.expected_over_mean = unevenness(work_by_rank(next_, loads_, comm_.size()));
  latest_.limited_by_root = limited_by_root(next_, loads_, comm_.size());
  for (Partition p = 0; p < partitions_in(owners_); ++p) {
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
