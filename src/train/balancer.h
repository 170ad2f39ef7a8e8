// Keeps the ranks' loads even: looks at them when an epoch ends, and decides which partitions change owners.
#pragma once

#include <cstdint>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/weight_table.h"
#include "train/ownership.h"

namespace cpt {

// All ranks call everything alike, and decide the same.
class Balancer {
 public:
  explicit Balancer(Communicator& comm);

  const Owners& owners() const { return owners_; }
  // The loads of this rank's partitions in the epoch that ends. Returns whether partitions are to move. Sends 8 bytes
  // per partition to every other rank.
  bool end_epoch(const Loads& mine);
  // What was decided; moves are those to come.
  const Balance& latest() const { return latest_; }
  // Moves them, when no example is under way. Throws AgreedError.
  void move(WeightTable& weights);

 private:
  Communicator& comm_;
  Owners owners_;
  Owners next_;
  Loads loads_{};  // of the epochs so far, each counting half as much as the one after it
  Balance latest_;
};

}  // namespace cpt
