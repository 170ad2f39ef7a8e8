// The labels of a method that must know all of them before it learns (PECOC): from a list, or by a pass over all data
// that only looks at labels.
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "cpt/trainer.h"
#include "data/shards/shards.h"
#include "model/learning/learner.h"

namespace cpt {

// Grows the learner's tree by all labels: those of options.labels, which rank 0 reads, or, without it, all that occur
// in the shards, sorted, so that they do not depend on the ranks. Collective; each rank reads its part of the shards.
// Throws AgreedError (alone, Error): what read_label_list() and reading throw; kUsage where standard input would have
// to be read twice; kNoInput if there is no label at all; kStopped if a request to stop the run arrives
// (options.checkpoints.requested) while the shards are read.
void learn_labels(const TrainingOptions& options, const std::vector<Shard>& data, const std::vector<Shard>& test,
                  Communicator& comm, Learner& learner);

}  // namespace cpt
