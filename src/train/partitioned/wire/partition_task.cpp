#include "train/partitioned/wire/partition_task.h"

#include <string>

#include "cpt/error.h"

namespace cpt {

namespace {

constexpr std::uint64_t kPositionBits = 20;
constexpr std::uint64_t kShardBits = 22;
constexpr std::uint64_t kRowBits = 22;

std::uint64_t field(std::uint64_t value, std::uint64_t bits, const char* what) {
  if (value >> bits == 0) return value;
  throw Error(Fault::kFailed, "more than " + std::to_string(std::uint64_t{1} << bits) + " " + what);
}

}  // namespace

std::uint64_t make_order(std::uint64_t position, std::uint64_t shard, std::uint64_t index_in_line) {
  const std::uint64_t high =
      field(position, kPositionBits, "lines of a shard in a round") << kShardBits | field(shard, kShardBits, "shards");
  return high << kRowBits | field(index_in_line, kRowBits, "examples on a line");
}

std::uint64_t position_in_round(std::uint64_t order) { return order >> (kShardBits + kRowBits); }
std::uint64_t shard_of(std::uint64_t order) { return order >> kRowBits & ((std::uint64_t{1} << kShardBits) - 1); }
std::uint64_t index_in_line(std::uint64_t order) { return order & ((std::uint64_t{1} << kRowBits) - 1); }

void RoutedExample::route_by(std::span<const std::uint8_t> path) {
  if (path.size() > 1) level1 = partition_below(kRootPartition, 0, path[0]);
  if (path.size() > 2) deep = partition_below(level1, 1, path[1]);
}

}  // namespace cpt
