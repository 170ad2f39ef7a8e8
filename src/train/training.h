// Training on one rank of a job. All ranks make the same calls with the same options.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "train/model_share.h"
#include "train/setup/run_plan.h"
#include "train/setup/run_setup.h"

namespace cpt {

struct TrainingResult {
  ModelShare model;
  Summary summary;
};

// Works in two steps, constructor and run(): between them, when the input is known to be good, a caller can remove the
// results of an earlier run. One per rank; borrows the communicator.
class Training {
 public:
  // Finds the shards, loads the model, the given tree or the checkpoint (partitioned: only the weights that this rank
  // owns) and compares ranks. Throws Error: kNoInput if a shard, the model or the given tree is missing; kBadData for
  // a damaged model, a malformed given tree, shards other than the checkpoint's, and if none of several checkpoints
  // can be read; kUsage for options out of range and for ranks that see different options or shards.
  Training(const TrainingOptions& options, Communicator& comm);
  ~Training();

  // The effective options: those of the model or the checkpoint that the run starts from, with the chosen bits.
  const TrainingOptions& options() const;
  // Empty if the run starts from the beginning.
  const std::optional<Resumption>& resumption() const;

  // What run() would do. Collective; complete on rank 0.
  RunPlan plan() const;

  // At most once. Creates the directories above `model` and the checkpoints when it starts, and fails if they vanish
  // later. Writes the model, unless `model` is empty on all ranks; if that fails there is no result. The files are
  // those of Model::save(), but if the run ends with a checkpoint, its data is not compressed and written again: model
  // and checkpoint then share files (hard links) if the file system permits.
  TrainingResult run(Observer& observer, const std::filesystem::path& model = {});

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

}  // namespace cpt
