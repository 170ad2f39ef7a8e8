#include "train/placement/timed_loads.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace cpt {

namespace {

constexpr std::uint64_t kLeastWork = 500'000;  // rows, about 10 ms
constexpr double kLeastOfRoot = 0.25;

std::uint64_t scaled(std::uint64_t load, double factor) {
  return static_cast<std::uint64_t>(static_cast<double>(load) * factor);
}

double ratio(std::uint64_t a, std::uint64_t b) { return static_cast<double>(a) / static_cast<double>(b); }

}  // namespace

Loads timed_loads(const Owners& owners, const std::vector<RankLoads>& by_rank) {
  const auto root_owner = static_cast<std::size_t>(owners[kRootPartition]);
  Loads loads{};
  std::uint64_t time = 0;
  for (const RankLoads& one : by_rank) {
    std::ranges::transform(loads, one.of, loads.begin(), std::plus());
    time += one.busy;
  }
  std::vector<std::uint64_t> work = work_by_rank(owners, loads, static_cast<int>(by_rank.size()));
  const std::uint64_t of_root = work_of(kRootPartition, owners, loads);
  std::uint64_t rows = std::accumulate(work.begin(), work.end(), std::uint64_t{0});
  if (rows < kLeastWork * by_rank.size()) return loads;
  // How long a row takes is told by the ranks that do not have the root.
  rows -= work[root_owner];
  time -= by_rank[root_owner].busy;
  work[root_owner] -= of_root;
  if (of_root == 0 || rows == 0 || time == 0) return loads;

  std::vector<double> factors(by_rank.size(), 1);
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    if (work[rank] != 0) factors[rank] = ratio(by_rank[rank].busy, time) * ratio(rows, work[rank]);
  }
  // The root's rank, in rows of the others: the rest is the root's, and where that is too little, its rows are
  // shorter.
  const double taken = ratio(by_rank[root_owner].busy, time) * static_cast<double>(rows);
  const double least = static_cast<double>(work[root_owner]) + kLeastOfRoot * static_cast<double>(of_root);
  factors[root_owner] = std::min(taken / least, 1.);
  const double root = taken - static_cast<double>(work[root_owner]) * factors[root_owner];
  for (Partition p = 1; p < kPartitions; ++p) loads[p] = scaled(loads[p], factors[static_cast<std::size_t>(owners[p])]);
  loads[kRootPartition] = scaled(loads[kRootPartition], root / static_cast<double>(of_root));
  return loads;
}

}  // namespace cpt
