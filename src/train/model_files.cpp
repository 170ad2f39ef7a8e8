#include "train/model_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "comm/agreement.h"
#include "cpt/error.h"
#include "store/blob_set.h"
#include "train/checkpoint_files.h"
#include "train/cores.h"
#include "train/learner_blobs.h"
#include "train/partition_places.h"
#include "train/partition_traffic.h"
#include "train/weights_blob.h"
#include "train/weights_writer.h"

namespace cpt {

namespace {

constexpr const char* kKind = "cpt model";

constexpr const char* kWeights = "weights";

// Writes all but the weights, and begins these.
WeightsWriter begin_weights(const Learner& learner, BlobSetWriter& set) {
  write_structure(learner, set);
  return {set.add(kWeights), learner.weights().bits()};
}

void take_weights(const BlobSetReader& checkpoint, BlobSetWriter& set) {
  const PartitionPlaces places = read_places(checkpoint);
  const std::string& first = places[0].blob;
  if (std::ranges::all_of(places, [&](const PartitionPlace& place) { return place.blob == first; })) {
    return set.share(checkpoint, first, kWeights);
  }
  WeightsWriter weights(set.add(kWeights), read_model_options(checkpoint).table_bits());
  std::map<std::string, BlobReader> blobs;
  for (const PartitionPlace& place : places) {
    auto found = blobs.find(place.blob);
    if (found == blobs.end()) found = blobs.emplace(place.blob, checkpoint.open(place.blob)).first;
    weights.take(place.partition, found->second, place.bytes);
  }
}

}  // namespace

void save_learner(const Learner& learner, const std::filesystem::path& directory, int threads) {
  BlobSetWriter set(directory, kKind, threads);
  WeightsWriter weights = begin_weights(learner, set);
  for (Partition partition = 0; partition < kPartitions; ++partition) weights.write(learner.weights(), partition);
  set.commit();
}

void save_learner(const Learner& learner, Communicator& comm, const Owners& owners,
                  const std::filesystem::path& directory) {
  const bool writes = comm.rank() == 0;
  std::optional<BlobSetWriter> set;
  std::optional<WeightsWriter> weights;
  together(comm, "save the model: begin", [&] {
    if (writes) weights.emplace(begin_weights(learner, set.emplace(directory, kKind, cores_of_rank(comm))));
  });
  gather_partitions(comm, learner.weights(), owners, [&](Partition partition, std::span<const std::byte> packed) {
    weights->append(partition, packed);
  });
  together(comm, "save the model: end", [&] {
    if (writes) set->commit();
  });
}

void save_checkpoint_as_model(const std::filesystem::path& checkpoint, const std::filesystem::path& directory,
                              int threads) {
  const BlobSetReader source(checkpoint, kCheckpointKind);
  BlobSetWriter set(directory, kKind, threads);
  for (const char* name : kStructureBlobs) {
    if (source.has(name)) set.share(source, name, name);
  }
  take_weights(source, set);
  set.commit();
}

ModelHead read_model_head(const std::filesystem::path& directory) {
  const BlobSetReader set(directory, kKind);
  return {read_model_options(set), set.digest()};
}

std::unique_ptr<Learner> load_learner(const std::filesystem::path& directory) {
  return load_learner(directory, [](Partition) { return true; });
}

std::unique_ptr<Learner> load_learner(const std::filesystem::path& directory,
                                      const std::function<bool(Partition)>& wanted) {
  const BlobSetReader set(directory, kKind);
  auto learner = std::make_unique<Learner>(read_model_options(set));
  read_tree(set, *learner);
  read_counts(set, *learner);
  BlobReader weights = set.open("weights");
  for (Partition partition = 0; partition < kPartitions; ++partition) {
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

}  // namespace cpt
