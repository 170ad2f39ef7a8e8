// Ranks that appear to be on several machines.
#pragma once

#include <string>

#include "comm/interposed.h"

namespace cpt {

// Rank r is on machine r modulo `machines`. Without any machine, all are on one that has no memory to share.
class OnMachines : public Interposed {
 public:
  OnMachines(Communicator& inner, int machines) : Interposed(inner, {}), machines_(machines) {}

  std::string host_of(int rank) const override {
    return "machine" + std::to_string(machines_ == 0 ? 0 : rank % machines_);
  }
  std::vector<Bytes> allocate_shared(std::size_t bytes) override {
    std::vector<Bytes> areas = Interposed::allocate_shared(bytes);
    return machines_ == 0 ? std::vector<Bytes>(areas.size()) : areas;
  }

 private:
  int machines_;
};

}  // namespace cpt
