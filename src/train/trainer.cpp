#include "cpt/trainer.h"

#include <utility>

#include "comm/alone.h"
#include "train/training.h"

namespace cpt {

TrainedModel train(const TrainingOptions& options, Observer& observer) {
  Alone alone;
  Training training(options, alone);
  TrainingResult result = training.run(observer, options.model_directory);
  Model last = std::move(result.model).into_model();
  // Of the effective options: those of a checkpoint count.
  if (!training.options().validation.keep_best) return {std::move(last), std::move(result.summary)};
  { const Model done = std::move(last); }  // so that its memory is free
  return {Model::load(options.model_directory), std::move(result.summary)};
}

}  // namespace cpt
