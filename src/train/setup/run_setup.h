// How a run starts: its effective options, its shards, and the learner it starts or resumes with.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/checkpoint/run_state.h"
#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "model/learning/learner.h"
#include "train/input/traversal_plan.h"
#include "train/setup/table_size.h"

namespace cpt {

// The checkpoint that a run resumes from.
struct Resumption {
  std::filesystem::path checkpoint;
  std::vector<std::string> refused;  // newer checkpoints that cannot be read, and why
  bool finished = false;             // that run was finished; what follows may be another (TraversalPlan)
  bool has_nothing_to_do = false;    // it was finished, and nothing follows
  Phase phase = Phase::kTrain;       // as in Report: the last one before the checkpoint
  std::uint32_t pass = 0;
  std::uint64_t examples = 0;
  std::uint64_t sync_points = 0;
  int ranks = 1;  // of the job that wrote it
};

struct RunSetup {
  TrainingOptions options;  // the effective ones: of the checkpoint or the initial model, if there is one
  std::optional<TraversalPlan> plan;
  std::vector<Shard> validation;
  std::vector<std::uint64_t> validation_heads;  // head_checksum() of each
  std::uint64_t validation_digest = 0;          // of their contents, whatever their paths; 0: there are none
  std::unique_ptr<Learner> learner;  // partitioned: with the weights of this rank's partitions by first_owners()
  std::uint64_t init_digest = 0;
  std::optional<RunState> state;                // of the checkpoint that the run resumes from
  std::optional<Resumption> resumption;         // the same in short
  std::vector<std::filesystem::path> unusable;  // newer checkpoints, which cannot be read
  std::vector<std::string> warnings;            // for the user

  // Whether a finished run goes on with new shards, or with a test: its figures then begin anew.
  bool begins_stage() const { return state && state->finished && !plan->finished() && !plan->adds_only_passes(); }
};

// Whether each rank holds a part of the weights.
bool is_partitioned(const TrainingOptions& options, const Communicator& comm);

// By rank: whether it reads shards.
std::vector<bool> readers_of(const TrainingOptions& options, const Communicator& comm);

// The size of a checkpoint in bytes if all rows are used; 0 if none is written.
std::uint64_t most_checkpoint_bytes(const RunSetup& setup);

// How ranks hold the table.
TableUse table_use(const TrainingOptions& options, const Communicator& comm);

// Collective. Throws the errors of Training's constructor. `free` is free_memory() before the run takes any.
RunSetup prepare_run(const TrainingOptions& options, Communicator& comm, std::optional<std::uint64_t> free);

}  // namespace cpt
