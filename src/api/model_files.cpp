#include "api/model_files.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "api/blobs/learner_blobs.h"
#include "api/blobs/weights_blob.h"
#include "api/checkpoint/checkpoint_reader.h"
#include "cpt/error.h"
#include "store/blob/blob_set.h"
#include "store/fs/replacement.h"
#include "store/fs/unfinished.h"

namespace cpt {

namespace {

constexpr const char* kWeights = "weights";

void take_weights(const BlobSetReader& checkpoint, BlobSetWriter& set) {
  const StoredPartitions partitions = read_stored_partitions(checkpoint);
  const std::string& first = partitions[0].blob;
  if (std::ranges::all_of(partitions, [&](const StoredPartition& stored) { return stored.blob == first; })) {
    return set.share(checkpoint, first, kWeights);
  }
  WeightsWriter weights(set.add(kWeights), read_model_options(checkpoint));
  std::map<std::string, BlobReader> blobs;
  for (const StoredPartition& stored : partitions) {
    auto found = blobs.find(stored.blob);
    if (found == blobs.end()) found = blobs.emplace(stored.blob, checkpoint.open(stored.blob)).first;
    weights.take(stored.partition, found->second, stored.bytes);
  }
}

// Every blob is verified against the manifest, so all that is read belongs to one set.
std::unique_ptr<Learner> read_learner(const BlobSetReader& set, const std::function<bool(Partition)>& wanted) {
  std::unique_ptr<Learner> learner = read_structure(set);
  BlobReader weights = set.open(kWeights);
  for (Partition partition = 0; partition < learner->weights().partitions(); ++partition) {
    if (wanted(partition)) {
      read_partition(weights, partition, learner->weights());
    } else {
      skip_partition(weights, partition, learner->weights());
    }
  }
  std::byte rest;
  if (weights.read({&rest, 1}) != 0) throw Error(Fault::kBadData, "the model has more weights than its table");
  return learner;
}

}  // namespace

WeightsWriter begin_weights(const Learner& learner, BlobSetWriter& set) {
  write_structure(learner, set);
  return {set.add(kWeights), learner.options()};
}

void save_learner(const Learner& learner, const std::filesystem::path& directory, int threads) {
  // Threads of one process would give unfinished sets the same name.
  static std::mutex one_at_a_time;
  const std::scoped_lock lock(one_at_a_time);
  BlobSetWriter set(directory, kModelKind, threads);
  WeightsWriter weights = begin_weights(learner, set);
  for (Partition partition = 0; partition < learner.weights().partitions(); ++partition)
    weights.write(learner.weights(), partition);
  set.commit();
  // Under the lock: sets that other threads of this process write are held by nobody.
  sweep_replacements(directory);
}

void save_checkpoint_as_model(const std::filesystem::path& checkpoint, const std::filesystem::path& directory,
                              int threads) {
  const BlobSetReader source(checkpoint, kCheckpointKind);
  BlobSetWriter set(directory, kModelKind, threads);
  for (const char* name : kStructureBlobs) {
    if (source.has(name)) set.share(source, name, name);
  }
  take_weights(source, set);
  set.commit();
}

ModelHead read_model_head(const std::filesystem::path& directory) {
  return read_unreplaced(directory, [&]() -> ModelHead {
    const BlobSetReader set(directory, kModelKind);
    return {read_model_options(set), set.digest()};
  });
}

std::unique_ptr<Learner> load_learner(const std::filesystem::path& directory,
                                      const std::function<bool(Partition)>& wanted) {
  return read_unreplaced(directory, [&] { return read_learner(BlobSetReader(directory, kModelKind), wanted); });
}

}  // namespace cpt
