// What every collective must do on every communicator: the same checks run on threads and under mpirun.
#pragma once

#include <string>
#include <vector>

#include "comm/communicator.h"

namespace cpt::testing {

// A collective body that all ranks of a communicator run; it reports by GoogleTest's EXPECT.
struct Law {
  std::string name;
  void (*check)(Communicator&);
};

const std::vector<Law>& laws();
// The part of them that is about start_delivery().
const std::vector<Law>& delivery_laws();

// "AllGather" for the name of a test.
inline std::string name_of(const Law& law) { return law.name; }
inline void PrintTo(const Law& law, std::ostream* out) { *out << law.name; }

}  // namespace cpt::testing
