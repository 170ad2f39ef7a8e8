#include "cpt/trainer.h"

#include <utility>

#include "comm/alone.h"
#include "train/training.h"

namespace cpt {

TrainedModel train(const TrainingOptions& options, Observer& observer) {
  Alone alone;
  TrainingResult result = Training(options, alone).run(observer);
  return {std::move(result.model).into_model(), std::move(result.summary)};
}

}  // namespace cpt
