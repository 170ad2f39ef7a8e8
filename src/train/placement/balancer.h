// Keeps the ranks' loads even: decides at the end of a sync interval which partitions change owners.
//
// If a rank exceeds the mean by more than 20 %, partitions move at once; if by more than 5 %, as soon as the others
// have waited for it as long as the move takes. So the time lost by waiting is at most about twice the time of the
// moves that end it, however long a run is and however its loads change.
#pragma once

#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/weights/weight_table.h"
#include "train/placement/ownership.h"

namespace cpt {

// The processor time that a rank's thread has worked: without waits for other ranks, and without other processes.
class BusyTime {
 public:
  // Adds the time of work(), unless it throws. One thread makes all calls.
  template <class Work>
  void add(Work work) {
    const std::uint64_t begin = now();
    work();
    nanoseconds_ += now() - begin;
  }
  // Nanoseconds since the last call.
  std::uint64_t take() { return std::exchange(nanoseconds_, 0); }

 private:
  static std::uint64_t now() {
    std::timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
  }

  std::uint64_t nanoseconds_ = 0;
};

// The loads that a rank has measured for its own partitions since the ranks last compared loads.
struct RankLoads {
  Loads of;                // 0 for partitions of other ranks
  std::uint64_t busy = 0;  // nanoseconds of processor time
};

// The loads of all partitions in rows of equal duration. Counts alone do not say what a partition costs: a row in a
// cache costs a fraction of one in memory, and machines differ. (Measured, AMD EPYC, novels, a table of 1 GiB: with
// equal counts, one of two ranks took 1.28 times as long as the other.) A row of a slow rank counts for more. A
// root's rows, the best cached of all, count for the rest of their rank's time, but for a quarter of their number at
// least. Loads stay as counted if ranks did less than half a million rows on average, too few to measure: so all
// figures of a small job are the same in every run.
Loads timed_loads(const Owners& owners, const std::vector<RankLoads>& by_rank);

// The loads of a rank in a sync interval, or in the part of it since owners changed.
struct IntervalLoads {
  std::uint64_t interval = 0;  // its number, from 1
  std::uint64_t rounds = 0;    // in that time; the same on all ranks
  Loads of;                    // 0 for partitions of other ranks
  std::uint64_t busy = 0;      // nanoseconds of processor time
};

// All ranks make the same calls and reach the same decisions.
class Balancer {
 public:
  Balancer(Communicator& comm, int trees, Roots roots = Roots::kOwned);

  const Owners& owners() const { return owners_; }
  // Sends 8 bytes per partition, and 8 more, to every other rank, without waiting: decide() waits. mine.rounds > 0.
  void end_interval(const IntervalLoads& mine);
  bool is_to_decide() const { return loads_under_way_ != nullptr; }
  // Waits for the loads without a decision, because the run ends.
  void abort_pass();
  // Waits for the loads of all ranks. Returns whether partitions must move. `weights` give the sizes of partitions.
  bool decide(const WeightTable& weights);
  // The latest decision, with the moves to come, and the number of its sync interval.
  const Balance& latest() const { return latest_; }
  std::uint64_t latest_interval() const { return mine_.interval; }
  // Moves the partitions. No example may be in flight. Throws AgreedError.
  void move(WeightTable& weights);

 private:
  void wait_for_loads();
  Owners choose_owners(const Loads& latest, const WeightTable& weights);

  Communicator& comm_;
  Owners owners_;
  Owners next_;
  Loads loads_;         // of all sync intervals; each counts half as much as the next one
  IntervalLoads mine_;  // of the last sync interval
  // In flight: the loads of this rank and of all ranks, each followed by the time.
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
  std::uint64_t waited_ = 0;  // since the last move: the avoidable rows of the slowest rank
  std::unique_ptr<Operation> loads_under_way_;
  Balance latest_;
};

}  // namespace cpt
