#include "api/checkpoint/checkpoint_reader.h"

#include <map>
#include <string>
#include <utility>

#include "api/blobs/learner_blobs.h"
#include "api/blobs/weights_blob.h"
#include "api/checkpoint/run_state_archive.h"
#include "cpt/error.h"
#include "store/blob/archive.h"
#include "store/blob/blob_set.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMostStateBytes = std::uint64_t{1} << 32;

constexpr std::uint64_t kMostPlaceBytes = std::uint64_t{1} << 32;

void require_full(const BlobSetReader& set, const PartitionPlaces& places) {
  std::map<std::string, std::uint64_t> filled;
  bool fits = true;
  for (const PartitionPlace& place : places) {
    std::uint64_t& end = filled[place.blob];
    fits = fits && place.offset == end && place.bytes <= set.raw_bytes(place.blob) - end;
    if (fits) end += place.bytes;
  }
  for (const auto& [blob, end] : filled) fits = fits && end == set.raw_bytes(blob);
  if (!fits) throw Error(Fault::kBadData, set.directory().string() + ": its partitions overlap or leave gaps");
}

struct OpenBlob {
  BlobReader reader;
  std::uint64_t position;
};

// Reads exactly the bytes of the place.
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
  if (format == kStateFormat) return;
  const std::string which = name + ": its state has format " + std::to_string(format);
  if (format == 0) throw Error(Fault::kBadData, which + ", which does not exist");
  const std::string known = std::to_string(kStateFormat);
  if (format > kStateFormat) throw Error(Fault::kBadData, which + ", this program reads up to " + known);
  throw Error(Fault::kBadData, which + ", which is too old: this program reads format " + known);
}

}  // namespace

PartitionPlaces read_places(const BlobSetReader& checkpoint) {
  const auto listed = read_archive<std::vector<PartitionPlace>>(checkpoint, "partitions", kMostPlaceBytes);
  PartitionPlaces places;
  const bool whole = listed.size() == places.size();
  for (std::size_t i = 0; whole && i < places.size(); ++i) places[i] = listed[i];
  for (Partition p = 0; p < kPartitions; ++p) {
    if (whole && places[p].partition == p) continue;
    throw Error(Fault::kBadData, checkpoint.directory().string() + ": its list of partitions is not whole");
  }
  require_full(checkpoint, places);
  return places;
}

RunState read_run_state(const fs::path& checkpoint) {
  const BlobSetReader set(checkpoint, kCheckpointKind);
  RunState state;
  const std::string name = checkpoint.string();
  decode_archive(set.read_all("state", kMostStateBytes), name + ": its state", [&](ArchiveReader& archive) {
    std::uint32_t format = 0;
    archive(format);
    require_known_format(format, name);
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
  std::unique_ptr<Learner> learner = read_structure(set);
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
