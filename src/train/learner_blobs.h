// What a model and a checkpoint have in common: options and tree of a learner as blobs.
//   options   of the model (cereal)
//   tree      the labels' names, and for each the label whose leaf it split (cereal): the tree is a function of that
#pragma once

#include "model/learner.h"
#include "store/blob_set.h"

namespace cpt {

template <class Archive>
void serialize(Archive& archive, ModelOptions& options) {
  archive(options.tree, options.alpha, options.loss, options.update, options.learning_rate, options.clip, options.bits,
          options.seed, options.normalize, options.interactions);
}

void write_structure(const Learner& learner, BlobSetWriter& set);

// Both throw Error(kBadData) where a blob is damaged or makes no sense.
ModelOptions read_model_options(const BlobSetReader& set);
// Into a learner with an empty tree.
void read_tree(const BlobSetReader& set, Learner& learner);

}  // namespace cpt
