// A model on disk: a learner as a blob set of the kind "cpt model".
//   options, tree, counts, features, input
//             see learner_blobs.h
//   weights   the used rows, partition after partition (see weights_blob.h)
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>

#include "api/blobs/weights_blob.h"
#include "model/learning/learner.h"
#include "model/tree/partition.h"
#include "store/blob/blob_set.h"

namespace cpt {

inline constexpr const char* kModelKind = "cpt model";

// The model appears under this name whole or not at all; then what killed writers left beside it goes. The bytes are
// the same for any number of threads; see BlobWriter. Throws Error(kCannotWrite).
void save_learner(const Learner& learner, const std::filesystem::path& directory, int threads = 1);

// Saves the model in a checkpoint of this program; the bytes are those of save_learner(). Shares files with the
// checkpoint where it can (see BlobSetWriter::share). Weights that several ranks wrote are assembled from their blobs,
// mostly without compressing them again. For one process. Throws Error(kCannotWrite); throws as verify_checkpoint()
// does if the checkpoint is missing or damaged.
void save_checkpoint_as_model(const std::filesystem::path& checkpoint, const std::filesystem::path& directory,
                              int threads = 1);

// Begins a model that is written in pieces: writes all but the weights into a set of kModelKind, and returns the writer
// of the weights.
WeightsWriter begin_weights(const Learner& learner, BlobSetWriter& set);

// The parts of a model that are known without reading all of it.
struct ModelHead {
  ModelOptions options;
  std::uint64_t digest = 0;  // of the checksums of all its files: equal for copies of one model
};
// Throws as load_learner() does.
ModelHead read_model_head(const std::filesystem::path& directory);

// Reads and checks all weights, but keeps only those of the wanted partitions; the rows of others are zero. If another
// process replaces the model meanwhile, begins again with the new one. Throws Error(kNoInput) if there is no finished
// model, and Error(kBadData) if it is damaged, of another kind, or of a newer format.
std::unique_ptr<Learner> load_learner(
    const std::filesystem::path& directory,
    const std::function<bool(Partition)>& wanted = [](Partition) { return true; });

}  // namespace cpt
