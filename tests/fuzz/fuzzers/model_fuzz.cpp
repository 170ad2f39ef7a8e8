// What reads a model and a checkpoint, behind the checksums. The first byte says which blob the others are; the ones
// beside it are those of a small model.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "api/blobs/learner_blobs.h"
#include "api/blobs/weights_blob.h"
#include "api/checkpoint/run_state.h"
#include "api/checkpoint/run_state_archive.h"
#include "cpt/error.h"
#include "model/learning/learner.h"
#include "store/blob/blob_set.h"

namespace {

using Bytes = std::span<const std::byte>;

cpt::ModelOptions small_options() {
  cpt::ModelOptions options;
  options.bits = cpt::kLeastBits;
  return options;
}

void read_options(Bytes bytes) {
  cpt::ModelOptions options;
  cpt::decode_archive(bytes, "options", [&](cpt::ArchiveReader& archive) { archive(options); });
}

void read_tree(Bytes bytes) {
  cpt::Learner learner(small_options());
  cpt::read_tree(bytes, "tree", learner);
}

void read_state(Bytes bytes) {
  cpt::RunState state;
  cpt::decode_archive(bytes, "state", [&](cpt::ArchiveReader& archive) {
    std::uint32_t format = 0;
    archive(format, state);
  });
  cpt::check_run_state(state, "state");
}

void read_weights(Bytes bytes) {
  cpt::WeightTable weights(cpt::kLeastBits);
  for (const cpt::Partition partition : {cpt::kRootPartition, cpt::Partition{1}, cpt::Partition{100}}) {
    try {
      cpt::unpack_partition(bytes, partition, weights);
    } catch (const cpt::Error& error) {
      if (error.fault() != cpt::Fault::kBadData) std::abort();
    }
  }
}

void read_counts(Bytes bytes) {
  cpt::Frequencies frequencies;
  cpt::unpack_counts(bytes, "counts", 100, frequencies);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const Bytes bytes = std::as_bytes(std::span(data + 1, size - 1));
  using Reader = void (*)(Bytes);
  constexpr Reader kReaders[] = {read_options, read_tree, read_state, read_weights, read_counts};
  try {
    kReaders[data[0] % std::size(kReaders)](bytes);
  } catch (const cpt::Error& error) {
    if (error.fault() != cpt::Fault::kBadData) std::abort();
  }
  return 0;
}
