// Training as one rank of several. All ranks do the same with the same options.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"

namespace cpt {

// Where a run goes on.
struct Resumption {
  std::filesystem::path checkpoint;
  std::vector<std::string> refused;  // newer checkpoints that cannot be read, and why
  bool finished = false;             // the run was at its end, and what follows, if anything, is a run of its own
  Phase phase = Phase::kTrain;       // as in Report: the last one that belongs to the checkpoint
  std::uint32_t pass = 0;
  std::uint64_t examples = 0;
  std::uint64_t sync_points = 0;
  int ranks = 1;  // that wrote it
};

// In two steps, for those who clear something away in between: only when nothing is wrong with what the run begins
// with. One per rank; borrows the communicator.
class Training {
 public:
  // Finds the shards, takes up the model, the given tree or the checkpoint (owned: of its weights this rank's only) and
  // compares ranks. Throws Error: kNoInput where a shard, the model or the given tree is missing, kBadData for a
  // damaged model, a given tree that is none, shards that are not those of the checkpoint, and where no checkpoint of
  // several can be read; kUsage for options out of range and for ranks that do not see the same.
  Training(const TrainingOptions& options, Communicator& comm);
  ~Training();

  // Those that hold: of the model or the checkpoint, if the run goes on from one; with the bits that were chosen.
  const TrainingOptions& options() const;
  // Where the run goes on; none if it begins.
  const std::optional<Resumption>& resumption() const;

  // At most once. Writes the model, too, if given a name for it, on all ranks or on none (rank 0's counts); where that
  // fails there is no result. As save_model() does, and the same files, but the last checkpoint, where the run ends
  // with one, is not compressed and written a second time: model and checkpoint then have files in common (hard links),
  // as far as the file system allows that.
  TrainingResult run(Observer& observer, const std::filesystem::path& model = {});

 private:
  class Run;
  std::unique_ptr<Run> run_;
};

// In one step, and no model is written. An error of one rank that the others can still hear of is thrown by all as the
// same AgreedError.
TrainingResult train(const TrainingOptions& options, Communicator& comm, Observer& observer);

// Writes the model under the name that rank 0 gives, whole or not at all. All ranks call it with their results. Throws
// Error(kCannotWrite), on all ranks as the same AgreedError.
void save_model(const TrainingResult& result, Communicator& comm, const std::filesystem::path& directory);

}  // namespace cpt
