// Where a run stands between two rounds: all that its future depends on, but for the learner.
#pragma once

#include <cstdint>
#include <vector>

#include "cpt/trainer.h"
#include "train/course.h"
#include "train/progress.h"
#include "train/schedule.h"

namespace cpt {

struct RunState {
  TrainingOptions options;  // with those of the model; nothing of them that concerns checkpoints
  std::uint64_t init_digest = 0;
  CourseState course;
  ProgressState progress;
  EpochCounts epochs;
  Summary summary;        // of what is finished: losses and bad lines of phases and passes
  bool finished = false;  // nothing was left to read
  int ranks = 1;          // that wrote it; for information
};

}  // namespace cpt
