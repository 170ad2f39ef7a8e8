#include "train/checkpoint_files.h"

#include <algorithm>
#include <cereal/types/utility.hpp>
#include <map>
#include <optional>
#include <string>

#include "comm/agreement.h"
#include "comm/collectives.h"
#include "cpt/error.h"
#include "store/blob_set.h"
#include "train/archive_blob.h"
#include "train/cores.h"
#include "train/partition_places.h"
#include "train/run_state_archive.h"
#include "train/run_state_check.h"
#include "train/weights_blob.h"
#include "train/weights_writer.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostStateBytes = std::uint64_t{1} << 32;

// What a rank has written, on its way to rank 0.
struct Part {
  std::string blob;  // encode_blob()
  std::vector<PartitionPlace> places;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(blob, places);
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
  WeightsWriter weights(blob, learner.weights().bits());
  for (Partition partition = 0; partition < kPartitions; ++partition) {
    if (writers[partition] != rank) continue;
    const std::uint64_t offset = blob.raw_bytes();
    weights.write(learner.weights(), partition);
    part.places.push_back({partition, name_of_part(rank), offset, blob.raw_bytes() - offset});
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

// The set on rank 0, with the parts of all ranks.
void complete(BlobSetWriter& set, const std::vector<std::vector<std::byte>>& parts, const RunState& state) {
  std::vector<PartitionPlace> places;
  for (const std::vector<std::byte>& bytes : parts) {
    const Part part = unpacked(bytes);
    if (part.places.empty()) continue;
    set.adopt(decode_blob(std::as_bytes(std::span(part.blob))));
    places.insert(places.end(), part.places.begin(), part.places.end());
  }
  std::ranges::sort(places, {}, &PartitionPlace::partition);
  append_archive(set.add("partitions"), places);
  append_archive(set.add("state"), std::make_pair(kStateFormat, state));
  set.commit();
}

// Each rank what it wrote itself, rank 0 the rest too. Returns the bytes of the set.
std::uint64_t read_own(Communicator& comm, const Owners& writers, const fs::path& directory) {
  const BlobSetReader set(directory, kCheckpointKind);
  for (const std::string& name : set.names()) {
    const bool is_part = name.starts_with("weights-");
    if (is_part ? name == name_of_part(comm.rank()) : comm.rank() == 0) set.verify(name);
  }
  if (std::ranges::count(writers, comm.rank()) > 0 && !set.has(name_of_part(comm.rank()))) {
    throw Error(Fault::kFailed, directory.string() + ": is another directory on this host");
  }
  return set.stored_bytes();
}

// Who writes has nobody else's data to blame.
std::uint64_t verify_own(Communicator& comm, const Owners& writers, const fs::path& directory) {
  try {
    return read_own(comm, writers, directory);
  } catch (const Error& error) {
    if (error.fault() == Fault::kFailed) throw;
    std::throw_with_nested(Error(Fault::kCannotWrite, "a checkpoint does not read back as it was written"));
  }
}

void compare_trees(const Learner& learner, Communicator& comm) {
  if (const auto difference = find_difference(comm, learner.growth_digest(), "checkpoint: trees")) {
    throw AgreedError(Fault::kFailed,
                      "the trees of rank 0 and " + difference->rank + " differ: no checkpoint is written");
  }
}

struct OpenBlob {
  BlobReader reader;
  std::uint64_t position;
};

// Neither more nor fewer bytes than the place has.
void read_place(BlobReader& reader, const PartitionPlace& place, const fs::path& directory, WeightTable& weights) {
  std::uint64_t left = place.bytes;
  const auto refuse = [&](const char* what) {
    throw Error(Fault::kBadData,
                (directory / place.blob).string() + ": partition " + std::to_string(place.partition) + what);
  };
  const StoredBytes source = [&](std::span<std::byte> out) {
    if (out.size() > left) refuse(" ends too early");
    left -= out.size();
    reader.read_exactly(out);
  };
  read_partition(source, place.partition, weights);
  if (left > 0) refuse(" is shorter than its place");
}

void require_known_format(std::uint32_t format, const std::string& name) {
  if (format > kStateFormat) {  // C9
    throw Error(Fault::kBadData, name + ": its state has format " + std::to_string(format) +
                                     ", this program reads up to " + std::to_string(kStateFormat));
  }
  if (format == 0) throw Error(Fault::kBadData, name + ": its state has format 0, which does not exist");
}

}  // namespace

std::uint64_t write_checkpoint(const Learner& learner, Communicator& comm, const Owners& writers, const RunState& state,
                               const fs::path& directory) {
  compare_trees(learner, comm);
  std::optional<BlobSetWriter> set;
  together(comm, "checkpoint: begin", [&] {
    if (comm.rank() == 0) write_structure(learner, set.emplace(directory, kCheckpointKind));
  });
  const fs::path unfinished =
      broadcast_text(comm, set ? set->directory_for_parts().string() : std::string(), 0, "checkpoint: folder");
  std::string part;
  together(comm, "checkpoint: weights", [&] { part = archived(write_part(learner, writers, comm, unfinished)); });
  const auto parts = gather_bytes(comm, std::as_bytes(std::span(part)), 0, "checkpoint: parts");
  together(comm, "checkpoint: end", [&] {
    if (set) complete(*set, parts, state);
  });
  const fs::path finished = broadcast_text(comm, directory.string(), 0, "checkpoint: folder");
  std::uint64_t bytes = 0;
  together(comm, "checkpoint: verify", [&] { bytes = verify_own(comm, writers, finished); });
  return bytes;
}

RunState read_run_state(const fs::path& checkpoint) {
  const BlobSetReader set(checkpoint, kCheckpointKind);
  RunState state;
  const std::string name = checkpoint.string();
  decode_archive(set.read_all("state", kMostStateBytes), name + ": its state", [&](ArchiveReader& archive) {
    std::uint32_t format = 0;
    archive(format);
    require_known_format(format, name);
    archive.set_format(format);
    archive(state);
  });
  check_run_state(state, name);
  if (archived(state.options.model) != archived(read_model_options(set))) {
    throw Error(Fault::kBadData, name + ": its state and its model have different options");
  }
  return state;
}

std::uint64_t bytes_of_checkpoint(const fs::path& checkpoint) {
  return BlobSetReader(checkpoint, kCheckpointKind).stored_bytes();
}

std::uint64_t verify_checkpoint(const fs::path& checkpoint) {
  const BlobSetReader set(checkpoint, kCheckpointKind);
  for (const std::string& name : set.names()) set.verify(name);
  read_run_state(checkpoint);
  read_places(set);
  return set.stored_bytes();
}

std::unique_ptr<Learner> load_checkpoint(const fs::path& checkpoint, const std::function<bool(Partition)>& wanted) {
  const BlobSetReader set(checkpoint, kCheckpointKind);
  auto learner = std::make_unique<Learner>(read_model_options(set));
  read_tree(set, *learner);
  read_counts(set, *learner);
  std::map<std::string, OpenBlob> blobs;
  for (const PartitionPlace& place : read_places(set)) {
    if (!wanted(place.partition)) continue;
    auto found = blobs.find(place.blob);
    if (found == blobs.end()) found = blobs.emplace(place.blob, OpenBlob{set.open(place.blob), 0}).first;
    OpenBlob& blob = found->second;
    blob.reader.skip(place.offset - blob.position);
    read_place(blob.reader, place, checkpoint, learner->weights());
    blob.position = place.offset + place.bytes;
  }
  return learner;
}

}  // namespace cpt
