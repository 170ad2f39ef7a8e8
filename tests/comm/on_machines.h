// Ranks that believe to be on several machines.
#pragma once

#include <string>

#include "comm/interposed.h"

namespace cpt {

// Rank r is on machine r modulo `machines`.
class OnMachines : public Interposed {
 public:
  OnMachines(Communicator& inner, int machines) : Interposed(inner, {}), machines_(machines) {}

  std::string host_of(int rank) const override { return "machine" + std::to_string(rank % machines_); }

 private:
  int machines_;
};

}  // namespace cpt
