#include "train/model_share.h"

#include <utility>

#include "cpt/error.h"

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

}  // namespace cpt
