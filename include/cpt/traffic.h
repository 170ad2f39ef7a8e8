// What ranks send to one another and how long they wait for it, by what it is for.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace cpt {

struct Traffic {
  std::uint64_t waits = 0;  // that have ended
  std::uint64_t bytes = 0;  // handed to other ranks; a broadcast counts once per receiver
  double seconds = 0;       // spent waiting, not those that passed while the rank did something else
};

// By the name of the call, such as "round: examples" or "merge: reduce": of rounds, or of merges. A call may take more
// than one wait, and some are made only where there is something to send.
using TrafficByCall = std::map<std::string, Traffic, std::less<>>;

}  // namespace cpt
