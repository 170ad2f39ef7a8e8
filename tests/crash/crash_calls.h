// The calls of a rank that kill_at.cpp records, and the choice of those before which a rank is killed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace cpt::testing {

struct Call {
  std::string kind;          // "file" or "message"
  std::uint64_t number = 0;  // of its kind, from 1
  std::string name;          // of the function, about
  std::filesystem::path path;
};
using Calls = std::vector<Call>;

// In the order in which the rank made them.
Calls read_calls(const std::filesystem::path& file);

Calls of_kind(const Calls& calls, const std::string& kind);
// The file calls from the first on checkpoint `number` up to the first on the next one: all of its writing, and the
// pruning that follows.
Calls of_checkpoint(const Calls& calls, std::uint64_t number);
// The file calls before the first checkpoint and after the last one has been written; without the lines of the log,
// which nothing depends on.
Calls outside_of_checkpoints(const Calls& calls);
// The number of checkpoints that the rank helped to write.
std::uint64_t count_checkpoints(const Calls& calls);
// `count` of them (all, if there are fewer), evenly spread, with the first and the last.
Calls spread(const Calls& calls, std::size_t count);

// The names of the calls, each once.
std::vector<std::string> names_of(const Calls& calls);

}  // namespace cpt::testing
