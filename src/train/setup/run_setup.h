// What a run begins with, or goes on with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/checkpoint/run_state.h"
#include "comm/communicator.h"
#include "cpt/model.h"
#include "train/input/traversal_plan.h"
#include "train/training.h"

namespace cpt {

struct RunSetup {
  TrainingOptions options;  // those that hold: of the checkpoint or the initial model, if there is one
  std::optional<TraversalPlan> plan;
  std::optional<Model> model;  // partitioned placement: with the weights of this rank's partitions by first_owners()
  std::uint64_t init_digest = 0;
  std::optional<RunState> state;         // where it goes on
  std::optional<Resumption> resumption;  // the same in a few words
  std::vector<std::string> warnings;     // what the user should know of it
};

// Whether ranks hold parts of the weights.
bool is_partitioned(const TrainingOptions& options, const Communicator& comm);

// Collective; the errors are those of Training's constructor. `free`: as free_memory() tells it before the run has
// taken any.
RunSetup prepare(const TrainingOptions& options, Communicator& comm, std::optional<std::uint64_t> free);

}  // namespace cpt
