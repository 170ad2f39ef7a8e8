#include "train/model_files.h"

#include <optional>

#include "comm/agreement.h"
#include "cpt/error.h"
#include "store/blob_set.h"
#include "train/cores.h"
#include "train/learner_blobs.h"
#include "train/partition_traffic.h"
#include "train/weights_blob.h"

namespace cpt {

namespace {

constexpr const char* kKind = "cpt model";

// Writes all but the weights, and begins these.
BlobWriter& begin_weights(const Learner& learner, BlobSetWriter& set) {
  write_structure(learner, set);
  return set.add("weights");
}

}  // namespace

void save_learner(const Learner& learner, const std::filesystem::path& directory, int threads) {
  BlobSetWriter set(directory, kKind, threads);
  BlobWriter& weights = begin_weights(learner, set);
  for (Partition partition = 0; partition < kPartitions; ++partition) {
    write_partition(learner.weights(), partition, weights);
  }
  set.commit();
}

void save_learner(const Learner& learner, Communicator& comm, const Owners& owners,
                  const std::filesystem::path& directory) {
  const bool writes = comm.rank() == 0;
  std::optional<BlobSetWriter> set;
  BlobWriter* weights = nullptr;
  together(comm, "save the model: begin", [&] {
    if (writes) weights = &begin_weights(learner, set.emplace(directory, kKind, cores_of_rank(comm)));
  });
  gather_partitions(comm, learner.weights(), owners,
                    [&](Partition, std::span<const std::byte> packed) { weights->append(packed); });
  together(comm, "save the model: end", [&] {
    if (writes) set->commit();
  });
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
