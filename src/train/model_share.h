// The part of a trained model that a rank holds.
#pragma once

#include <memory>
#include <vector>

#include "cpt/model.h"
#include "model/learning/learner.h"

namespace cpt {

// The part of a trained model that a rank holds: all of it on one rank and with replicas; in the partitioned placement
// the tree and the weights of its own partitions, from which no probability can be computed.
class ModelShare {
 public:
  // `owners`: the rank that owns each partition; empty if every rank has the whole model.
  ModelShare(std::unique_ptr<Learner> learner, std::vector<int> owners);
  ModelShare(ModelShare&&) noexcept;
  ModelShare& operator=(ModelShare&&) noexcept;
  ~ModelShare();

  bool is_whole() const { return owners_.empty(); }
  const std::vector<int>& owners() const { return owners_; }
  const Learner& learner() const { return *learner_; }

  // Throws Error(kFailed) unless the share is whole.
  Model into_model() &&;

 private:
  std::unique_ptr<Learner> learner_;
  std::vector<int> owners_;
};

}  // namespace cpt
