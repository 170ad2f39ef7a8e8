#include "model/random_stream.h"

#include <cmath>

namespace cpt {

Batch random_stream(const StreamShape& shape) {
  Dice dice(shape.seed);
  Batch batch;
  std::size_t known = 0;
  for (std::size_t i = 0; i < shape.examples; ++i) {
    const bool is_new = known * shape.examples <= i * shape.labels && known < shape.labels;
    const auto old = static_cast<std::size_t>(std::pow(dice.unit(), shape.skew) * static_cast<double>(known));
    const std::size_t label = is_new ? known++ : old;
    for (std::size_t f = 0; f < shape.active; ++f) {
      const std::uint64_t typical = mix(shape.seed + label * shape.active + f);
      const std::size_t feature = dice.chance(0.8) ? typical % shape.vocabulary : dice.below(shape.vocabulary);
      const double value = shape.binary ? 1.0 : dice.between(-2, 2);
      batch.add_feature(feature_number(shape.seed * shape.vocabulary + feature), static_cast<float>(value));
    }
    const auto importance = static_cast<float>(shape.weighted ? dice.between(0.1, 4.1) : 1.0);
    batch.finish_example(label_number(label), importance, {.shard = 0, .line = i + 1});
  }
  return batch;
}

Batch bare_example(const std::string& label, float importance) {
  Batch batch;
  batch.finish_example(label, importance, {.shard = 0, .line = 1});
  return batch;
}

}  // namespace cpt
