#include "train/checkpoint/checkpoint_writer.h"

#include <algorithm>
#include <cereal/types/utility.hpp>
#include <optional>
#include <span>
#include <string>

#include "api/blobs/learner_blobs.h"
#include "api/blobs/weights_blob.h"
#include "api/checkpoint/checkpoint_reader.h"
#include "api/checkpoint/run_state_archive.h"
#include "api/model_files.h"
#include "comm/agreement.h"
#include "comm/collectives.h"
#include "cpt/error.h"
#include "store/blob/archive.h"
#include "store/blob/blob_set.h"
#include "train/host/host.h"
#include "train/placement/partition_traffic.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

// The blob that a rank has written, as it is described to rank 0.
struct Part {
  std::string blob;  // encode_blob()
  StoredPartitions partitions;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(blob, partitions);
  }
};

std::string name_of_part(int rank) {
  std::string digits = std::to_string(rank);
  digits.insert(0, 5 - std::min<std::size_t>(digits.size(), 5), '0');
  return "weights-" + digits;
}

Part write_part(const Learner& learner, const Owners& writers, const Communicator& comm, const fs::path& directory) {
  Part part;
  const int rank = comm.rank();
  if (std::ranges::count(writers, rank) == 0) return part;
  BlobWriter blob(directory, name_of_part(rank), cores_of_rank(comm));
  WeightsWriter weights(blob, learner.options());
  for (Partition partition = 0; partition < partitions_in(writers); ++partition) {
    if (writers[partition] != rank) continue;
    const std::uint64_t offset = blob.raw_bytes();
    weights.write(learner.weights(), partition);
    part.partitions.push_back({partition, name_of_part(rank), offset, blob.raw_bytes() - offset});
  }
  const std::vector<std::byte> encoded = encode_blob(blob.finish());
  part.blob.assign(reinterpret_cast<const char*>(encoded.data()), encoded.size());
  return part;
}

Part unpacked(const std::vector<std::byte>& bytes) {
  Part part;
  decode_archive(bytes, "a part of a checkpoint", [&](ArchiveReader& archive) { archive(part); });
  return part;
}

// Completes the set on rank 0 with the parts of all ranks.
void complete(BlobSetWriter& set, const std::vector<std::vector<std::byte>>& parts, const RunState& state) {
  StoredPartitions partitions;
  for (const std::vector<std::byte>& bytes : parts) {
    const Part part = unpacked(bytes);
    if (part.partitions.empty()) continue;
    set.adopt(decode_blob(std::as_bytes(std::span(part.blob))));
    partitions.insert(partitions.end(), part.partitions.begin(), part.partitions.end());
  }
  std::ranges::sort(partitions, {}, &StoredPartition::partition);
  append_archive(set.add("partitions"), partitions);
  append_archive(set.add("state"), stored_state(state));
  set.commit();
}

// Each rank verifies the blob that it wrote, and rank 0 also the blobs of no rank. Returns the bytes of the set.
std::uint64_t read_own(Communicator& comm, const Owners& writers, const fs::path& directory) {
  const BlobSetReader set(directory, kCheckpointKind);
  for (const std::string& name : set.names()) {
    const bool is_part = name.starts_with("weights-");
    if (is_part ? name == name_of_part(comm.rank()) : comm.rank() == 0) set.verify(name);
  }
  if (comm.rank() == 0) read_run_state(directory);  // that its values can be read
  if (std::ranges::count(writers, comm.rank()) > 0 && !set.has(name_of_part(comm.rank()))) {
    throw Error(Fault::kFailed, directory.string() + ": this host sees a different directory under this name");
  }
  return set.stored_bytes();
}

// Damage right after writing is a failure to write, not bad input.
std::uint64_t verify_own(Communicator& comm, const Owners& writers, const fs::path& directory) {
  try {
    return read_own(comm, writers, directory);
  } catch (const Error& error) {
    if (error.fault() == Fault::kFailed) throw;
    std::throw_with_nested(Error(Fault::kCannotWrite, "a checkpoint does not read back as it was written"));
  }
}

}  // namespace

std::uint64_t write_checkpoint(const Learner& learner, Communicator& comm, const Owners& writers, const RunState& state,
                               const fs::path& directory) {
  require_equal(comm, {{"another tree", learner.growth_digest()}}, "checkpoint: trees", Fault::kFailed,
                ": no checkpoint is written");
  std::optional<BlobSetWriter> set;
  run_on_all(comm, "checkpoint: begin", [&] {
    if (comm.rank() == 0) write_structure(learner, set.emplace(directory, kCheckpointKind));
  });
  const fs::path unfinished =
      broadcast_text(comm, set ? set->directory_for_parts().string() : std::string(), 0, "checkpoint: folder");
  std::string part;
  run_on_all(comm, "checkpoint: weights", [&] { part = archived(write_part(learner, writers, comm, unfinished)); });
  const auto parts = gather_bytes(comm, std::as_bytes(std::span(part)), "checkpoint: parts");
  run_on_all(comm, "checkpoint: end", [&] {
    if (set) complete(*set, parts, state);
  });
  const fs::path finished = broadcast_text(comm, directory.string(), 0, "checkpoint: folder");
  std::uint64_t bytes = 0;
  run_on_all(comm, "checkpoint: verify", [&] { bytes = verify_own(comm, writers, finished); });
  return bytes;
}

void save_partitioned_learner(const Learner& learner, Communicator& comm, const Owners& owners,
                              const fs::path& directory) {
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

void save_model(const Learner& learner, Communicator& comm, const Owners& owners, const fs::path& directory) {
  if (!owners.empty()) return save_partitioned_learner(learner, comm, owners, directory);
  run_on_all(comm, "write the model", [&] {
    if (comm.rank() == 0) save_learner(learner, directory, cores_of_rank(comm));
  });
}

}  // namespace cpt
