// The shards that a prepared run will read, and the memory and disk that it needs, computed before it starts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "data/pipeline/shard_preview.h"
#include "train/setup/run_setup.h"

namespace cpt {

// The shards of one phase.
struct InputPlan {
  std::vector<bool> readers;  // by rank: whether it reads shards
  std::vector<std::uint64_t> shards_of_rank;
  std::vector<std::uint64_t> bytes_of_rank;  // as stored
  std::uint64_t examples = 0;                // estimated from the beginnings of some shards
  bool examples_known = false;               // false if there is a pipe, which cannot be read twice
};

struct RunPlan {
  TrainingOptions options;  // with the chosen bits
  InputPlan train;
  InputPlan test;
  std::string first_path;             // of the first shard
  std::optional<ShardPreview> first;  // none if it is a pipe
  // Of the rank that needs the most.
  std::uint64_t table_bytes = 0;            // if all rows are used
  std::uint64_t calibration_bytes = 0;      // calibrators of the nodes, and counts of features
  std::optional<std::uint64_t> free_bytes;  // memory that is free on the host with the least
  std::uint64_t checkpoint_bytes = 0;       // if all rows are used
  std::vector<std::string> warnings;        // that a start would give
};

// Collective; complete on rank 0. Throws what reading the beginnings of shards throws, as AgreedError (alone, Error).
RunPlan plan_run(const RunSetup& setup, Communicator& comm, std::optional<std::uint64_t> free);

}  // namespace cpt
