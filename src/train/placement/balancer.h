// Keeps the ranks' loads even: looks at them when an sync interval ends, and decides which partitions change owners:
// where a rank exceeds the mean by more than 20 % at once, and where it exceeds it by 5 % as soon as others have waited
// for it as long as the move takes. So what is lost to waiting is at most about twice what it takes to end it, however
// long a run is and however much its loads change.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/weights/weight_table.h"
#include "train/placement/ownership.h"
#include "train/placement/timed_loads.h"

namespace cpt {

// What a rank did in an sync interval, or since owners have changed in it.
struct IntervalLoads {
  std::uint64_t interval = 0;  // its number, from 1
  std::uint64_t rounds = 0;    // in which it did that; the same on all ranks
  Loads of{};                  // its partitions; 0 elsewhere
  std::uint64_t busy = 0;      // nanoseconds of processor time that they took
};

// All ranks call everything alike, and decide the same.
class Balancer {
 public:
  explicit Balancer(Communicator& comm);

  const Owners& owners() const { return owners_; }
  // Sends 8 bytes per partition, and 8 more, to every other rank, and waits for none: they are on their way until
  // decide().
  // mine.rounds > 0.
  void end_interval(const IntervalLoads& mine);
  bool is_to_decide() const { return loads_under_way_ != nullptr; }
  // Waits for the loads without a decision, where everything ends.
  void abort_pass();
  // Looks at the loads of all ranks. Returns whether partitions are to move. `weights` tell how large they are.
  bool decide(const WeightTable& weights);
  // What was decided at the end of which sync interval; moves are those to come.
  const Balance& latest() const { return latest_; }
  std::uint64_t latest_interval() const { return mine_.interval; }
  // Moves them, when no example is under way. Throws AgreedError.
  void move(WeightTable& weights);

 private:
  void wait_for_loads();
  Owners wished(const Loads& latest, const WeightTable& weights);

  Communicator& comm_;
  Owners owners_;
  Owners next_;
  Loads loads_{};       // of the sync intervals so far, each counting half as much as the one after it
  IntervalLoads mine_;  // of the last sync interval
  RankLoads sent_;
  std::vector<RankLoads> by_rank_;
  std::uint64_t waited_ = 0;  // since the last move: for what the slowest rank had too much, in rows
  std::unique_ptr<Operation> loads_under_way_;
  Balance latest_;
};

}  // namespace cpt
