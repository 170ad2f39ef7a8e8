#include "cpt/trainer.h"

#include <utility>

#include "comm/alone.h"
#include "cpt/error.h"
#include "model/learning/learner.h"
#include "train/training.h"

namespace cpt {

ModelShare::ModelShare(std::unique_ptr<Learner> learner, std::vector<int> owners)
    : learner_(std::move(learner)), owners_(std::move(owners)) {}
ModelShare::ModelShare(ModelShare&&) noexcept = default;
ModelShare& ModelShare::operator=(ModelShare&&) noexcept = default;
ModelShare::~ModelShare() = default;

Model ModelShare::into_model() && {
  if (!is_whole()) {
    throw Error(Fault::kFailed, "this rank has the weights of its own partitions only: save the model and load it");
  }
  return Model(std::move(learner_));
}

TrainedModel train(const TrainingOptions& options, Observer& observer) {
  Alone alone;
  TrainingResult result = Training(options, alone).run(observer);
  return {std::move(result.model).into_model(), std::move(result.summary)};
}

}  // namespace cpt
