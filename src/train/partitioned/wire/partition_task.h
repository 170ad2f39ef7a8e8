// The task of an example at one partition, and its route there.
//
// The path of an example in a tree leads through up to three partitions: the root, one of level 1, a deep one. The rank
// that has read the example sends it to the owners of all of them if it knows the path (directly); otherwise one owner
// sends it on to the next (a hop). A task takes it through all consecutive partitions of one owner. With several trees
// it is sent once for each.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cpt/error.h"
#include "model/tree/labels.h"
#include "model/tree/partition.h"
#include "train/partitioned/example/example_record.h"

namespace cpt {

// In the order in which a partition does them for an example: those that only read come before those that change
// weights.
enum class TaskKind : std::uint8_t {
  kDraw,    // a step of the draw for the Brier score
  kSearch,  // for the most probable label
  kKnown,   // predict and learn the label, which the partition knows
  kInsert,  // the label is new: descend by the insertion rule
  kOpen,    // the label is new, and splits the leaf of `split` with a node that opens the partition
};

// Where an example stands in its round: by position, counted from the round's first, then by shard, then by its place
// in the line, in one number. Throws Error(kFailed) if a part does not fit.
inline std::uint64_t make_order(std::uint64_t position, std::uint64_t shard, std::uint64_t index_in_line) {
  const auto field = [](std::uint64_t value, unsigned bits, const char* what) {
    if (value >> bits == 0) return value;
    throw Error(Fault::kFailed, "more than " + std::to_string(std::uint64_t{1} << bits) + " " + what);
  };
  return field(position, 20, "lines of a shard in a round") << 44 | field(shard, 22, "shards") << 22 |
         field(index_in_line, 22, "examples on a line");
}

// The rank that has read an example, to which its results go.
using ReaderRank = std::uint32_t;

// Like a RoutedExample it is filled in at its final place: a copy right after a write waits until the write has reached
// the cache, which took a tenth of the time of an example.
struct PartitionTask {
  std::uint64_t order = 0;  // make_order()
  std::uint32_t slot = 0;   // the example's number among those of its round that `reader` has read
  LabelId label = kNoLabel;
  ReaderRank reader = 0;
  TaskKind kind = TaskKind::kKnown;
  Partition partition = kRootPartition;  // where it begins
  std::uint32_t disagreements = 0;       // kInsert, kOpen: as in InsertionState
  LabelId split = kNoLabel;              // kOpen
  std::uint64_t coins = 0;               // kInsert: as in InsertionState; kDraw: as in DrawState
  double probability = 1;                // kDraw, kSearch: of the path so far
  double least = 0;                      // kSearch: less probable labels are not looked for
  ExampleRecord example;

  // The order of tasks to one partition.
  bool operator<(const PartitionTask& other) const {
    return order != other.order ? order < other.order : kind < other.kind;
  }
};

inline constexpr Partition kNoPartition = 0xffff;

// An example sent to an owner for all its partitions of one tree there.
struct RoutedExample {
  std::uint64_t order = 0;
  std::uint32_t slot = 0;    // see PartitionTask
  LabelId label = kNoLabel;  // kNoLabel: the sender does not know the label, and sends its name
  ReaderRank reader = 0;     // not in a message
  std::uint32_t tree = 0;
  // The partitions below the root on its path, as the sender knows it; kNoPartition where it ends before.
  Partition level1 = kNoPartition;
  Partition deep = kNoPartition;
  ExampleRecord example;

  // Fills in the partitions from a path, as in ExampleRecord::path().
  void route_by(std::span<const std::uint8_t> path) {
    level1 = deep = kNoPartition;
    if (path.size() > 1) level1 = partition_below(root_partition(tree), 0, path[0]);
    if (path.size() > 2) deep = partition_below(level1, 1, path[1]);
  }

  bool operator<(const RoutedExample& other) const { return order < other.order; }
};

}  // namespace cpt
