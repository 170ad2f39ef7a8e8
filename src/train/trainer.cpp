#include "cpt/trainer.h"

#include "comm/alone.h"
#include "train/training.h"

namespace cpt {

TrainingResult train(const TrainingOptions& options, Observer& observer) {
  Alone alone;
  return train(options, alone, observer);
}

}  // namespace cpt
