// Keeps the ranks' loads even: looks at them when an epoch ends, and decides which partitions change owners: where a
// rank exceeds the mean by more than 20 % at once, and where it exceeds it by 5 % as soon as others have waited for it
// as long as the move takes. So what is lost to waiting is at most about twice what it takes to end it, however long a
// run is and however much its loads change.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/weight_table.h"
#include "train/ownership.h"
#include "train/timed_loads.h"

namespace cpt {

// What a rank did in an epoch, or since owners have changed in it.
struct EpochLoads {
  std::uint64_t epoch = 0;   // its number, from 1
  std::uint64_t rounds = 0;  // in which it did that; the same on all ranks
  Loads of{};                // its partitions; 0 elsewhere
  std::uint64_t busy = 0;    // nanoseconds of processor time that they took
};

// All ranks call everything alike, and decide the same.
class Balancer {
 public:
  explicit Balancer(Communicator& comm);

  const Owners& owners() const { return owners_; }
  // Sends 8 bytes per partition, and 8 more, to every other rank, and waits for none: they are on their way until
  // decide().
  // mine.rounds > 0.
  void end_epoch(const EpochLoads& mine);
  bool is_to_decide() const { return loads_under_way_ != nullptr; }
  // Waits for the loads without a decision, where everything ends.
  void give_up();
  // Looks at the loads of all ranks. Returns whether partitions are to move. `weights` tell how large they are.
  bool decide(const WeightTable& weights);
  // What was decided at the end of which epoch; moves are those to come.
  const Balance& latest() const { return latest_; }
  std::uint64_t latest_epoch() const { return mine_.epoch; }
  // Moves them, when no example is under way. Throws AgreedError.
  void move(WeightTable& weights);

 private:
  void wait_for_loads();
  Owners wished(const Loads& latest, const WeightTable& weights);

  Communicator& comm_;
  Owners owners_;
  Owners next_;
  Loads loads_{};    // of the epochs so far, each counting half as much as the one after it
  EpochLoads mine_;  // of the last epoch
  RankLoads sent_;
  std::vector<RankLoads> by_rank_;
  std::uint64_t waited_ = 0;  // since the last move: for what the slowest rank had too much, in lines
  std::unique_ptr<Operation> loads_under_way_;
  Balance latest_;
};

}  // namespace cpt
