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

constexpr std::uint64_t kMostPartitionBytes = std::uint64_t{1} << 32;

void require_full(const BlobSetReader& set, const StoredPartitions& partitions) {
  std::map<std::string, std::uint64_t> filled;
  bool fits = true;
  for (const StoredPartition& stored : partitions) {
    std::uint64_t& end = filled[stored.blob];
    fits = fits && stored.offset == end && stored.bytes <= set.raw_bytes(stored.blob) - end;
    if (fits) end += stored.bytes;
  }
  for (const auto& [blob, end] : filled) fits = fits && end == set.raw_bytes(blob);
  if (!fits) throw Error(Fault::kBadData, set.directory().string() + ": its partitions overlap or leave gaps");
}

struct OpenBlob {
  BlobReader reader;
  std::uint64_t position;
};

// Reads all of a partition, and fails if its length is not the stated one.
void read_stored(BlobReader& reader, const StoredPartition& stored, const fs::path& directory, WeightTable& weights) {
  std::uint64_t left = stored.bytes;
  const auto refuse = [&](const char* what) {
    throw Error(Fault::kBadData,
                (directory / stored.blob).string() + ": partition " + std::to_string(stored.partition) + what);
  };
  const StoredBytes source = [&](std::span<std::byte> out) {
    if (out.size() > left) refuse(" ends too early");
    left -= out.size();
    reader.read_exactly(out);
  };
  read_partition(source, stored.partition, weights);
  if (left > 0) refuse(" is shorter than its entry in the list of partitions");
}

void require_known_format(std::uint32_t format, const std::string& name) {
  if (format >= kOldestStateFormat && format <= kStateFormat) return;
  const std::string which = name + ": its state has format " + std::to_string(format);
  if (format == 0) throw Error(Fault::kBadData, which + ", which does not exist");
  const std::string known = std::to_string(kStateFormat);
  if (format > kStateFormat) throw Error(Fault::kBadData, which + ", this program reads up to " + known);
  throw Error(Fault::kBadData, which + ", which is too old: this program reads formats " +
                                   std::to_string(kOldestStateFormat) + " to " + known);
}

}  // namespace

StoredPartitions read_stored_partitions(const BlobSetReader& checkpoint) {
  auto partitions = read_archive<StoredPartitions>(checkpoint, "partitions", kMostPartitionBytes);
  const auto trees = static_cast<std::size_t>(read_model_options(checkpoint).trees);
  bool complete = partitions.size() == root_partition(trees);
  for (std::size_t p = 0; complete && p < partitions.size(); ++p) complete = partitions[p].partition == p;
  if (!complete) {
    throw Error(Fault::kBadData, checkpoint.directory().string() + ": its list of partitions is not complete");
  }
  require_full(checkpoint, partitions);
  return partitions;
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
    if (format >= kFirstFormatWithRenewal) archive(state.next_renewal);
    if (format >= kFirstFormatWithValidations) {
      StoredValidations validations;
      archive(validations);
      restore_validations(std::move(validations), state);
    }
    if (format >= kFirstFormatWithSums) {
      std::vector<ExactSum::Words> sums;
      archive(sums);
      if (!restore_exact_sums(sums, format, state))
        throw Error(Fault::kBadData, name + ": its losses and their sums do not agree");
    }
    if (format >= kFirstFormatWithColumns) archive(state.options.columns);
    if (format < kFirstFormatWithTop1Squares) infer_top1_squares(state);
    if (format < kFirstFormatWithOtherSquares) infer_other_squares(state);
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
  read_stored_partitions(set);
  return set.stored_bytes();
}

std::unique_ptr<Learner> load_checkpoint(const fs::path& checkpoint, const std::function<bool(Partition)>& wanted) {
  const BlobSetReader set(checkpoint, kCheckpointKind);
  std::unique_ptr<Learner> learner = read_structure(set);
  std::map<std::string, OpenBlob> blobs;
  for (const StoredPartition& stored : read_stored_partitions(set)) {
    if (!wanted(stored.partition)) continue;
    auto found = blobs.find(stored.blob);
    if (found == blobs.end()) found = blobs.emplace(stored.blob, OpenBlob{set.open(stored.blob), 0}).first;
    OpenBlob& blob = found->second;
    blob.reader.skip(stored.offset - blob.position);
    read_stored(blob.reader, stored, checkpoint, learner->weights());
    blob.position = stored.offset + stored.bytes;
  }
  return learner;
}

}  // namespace cpt
