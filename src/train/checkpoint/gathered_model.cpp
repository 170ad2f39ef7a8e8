#include "train/checkpoint/gathered_model.h"

#include <optional>
#include <span>

#include "api/model_files.h"
#include "comm/agreement.h"
#include "store/blob/blob_set.h"
#include "train/host/cores.h"
#include "train/placement/partition_traffic.h"

namespace cpt {

void save_learner(const Learner& learner, Communicator& comm, const Owners& owners,
                  const std::filesystem::path& directory) {
  const bool writes = comm.rank() == 0;
  std::optional<BlobSetWriter> set;
  std::optional<WeightsWriter> weights;
  run_on_all(comm, "save the model: begin", [&] {
    if (writes) weights.emplace(begin_weights(learner, set.emplace(directory, kModelKind, cores_of_rank(comm))));
  });
  gather_partitions(comm, learner.weights(), owners, [&](Partition partition, std::span<const std::byte> packed) {
    weights->append(partition, packed);
  });
  run_on_all(comm, "save the model: end", [&] {
    if (writes) set->commit();
  });
}

}  // namespace cpt
