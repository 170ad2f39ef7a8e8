// A learner as a blob set of the kind "cpt model":
//   options, tree, counts   see learner_blobs.h
//   weights                 the used rows, partition after partition (see weights_blob.h)
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "api/blobs/weights_writer.h"
#include "model/learning/learner.h"
#include "model/tree/partition.h"
#include "store/blob/blob_set.h"

namespace cpt {

inline constexpr const char* kModelKind = "cpt model";

// Appears under this name whole or not at all. Throws Error(kCannotWrite). The bytes are the same for any number of
// threads; see BlobWriter.
void save_learner(const Learner& learner, const std::filesystem::path& directory, int threads = 1);

// The same bytes, of the model that a checkpoint holds, which this program has written. What has one file
// there and here is the same file (see BlobSetWriter::share), and weights that several ranks wrote are put together
// from theirs, compressed as they are. One process does it. Throws Error(kCannotWrite); as verify_checkpoint() does
// where the checkpoint is missing or damaged.
void save_checkpoint_as_model(const std::filesystem::path& checkpoint, const std::filesystem::path& directory,
                              int threads = 1);

// To write a model piece by piece: writes all but the weights into a set of kModelKind, and begins the weights.
WeightsWriter begin_weights(const Learner& learner, BlobSetWriter& set);

// What can be known of a model without reading it all.
struct ModelHead {
  ModelOptions options;
  std::uint64_t digest = 0;  // equal for copies of one model; of the checksums of all its files
};
// Throws as load_learner() does.
ModelHead read_model_head(const std::filesystem::path& directory);

// Throws Error(kNoInput) if there is no finished model, Error(kBadData) if it is damaged or not one, or of a newer
// format.
std::unique_ptr<Learner> load_learner(const std::filesystem::path& directory);
// The weights of other partitions than the wanted ones are read and checked, but not kept: their rows are zero.
std::unique_ptr<Learner> load_learner(const std::filesystem::path& directory,
                                      const std::function<bool(Partition)>& wanted);

}  // namespace cpt
