// A learner that has learned a random stream, in one row.
#pragma once

#include "model/learning/in_order.h"
#include "model/random_stream.h"

namespace cpt {

struct TrainedModel {
  TrainedModel(const ModelOptions& options, const StreamShape& shape) : learner(options), stream(random_stream(shape)) {
    InOrder(learner).learn_online({&stream, 0, stream.size()}, losses);
  }
  // The i-th example, counted round and round.
  ExampleView example(std::size_t i) const { return stream[i % stream.size()]; }

  Learner learner;
  Batch stream;
  Losses losses;
};

}  // namespace cpt
