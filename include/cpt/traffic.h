// How much the ranks of a job send to one another and how long they wait, by purpose.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cpt {

struct Traffic {
  std::uint64_t waits = 0;  // number of waits that have ended
  std::uint64_t bytes = 0;  // sent to other ranks; a broadcast counts once for each receiver
  double seconds = 0;       // spent waiting; time in which the rank did other work does not count
};

// Traffic by the name of the call, such as "round: examples" or "merge: reduce". One call may take several waits, and
// some calls are made only if there is something to send.
using TrafficByCall = std::map<std::string, Traffic, std::less<>>;

}  // namespace cpt
