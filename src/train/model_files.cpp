#include "train/model_files.h"

#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <cstring>
#include <optional>
#include <sstream>

#include "comm/agreement.h"
#include "cpt/error.h"
#include "cpt/hashing.h"
#include "store/blob_set.h"
#include "train/partition_traffic.h"
#include "train/weights_blob.h"

namespace cpt {

namespace {

constexpr const char* kKind = "cpt model";
constexpr std::uint64_t kMostOptionBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostTreeBytes = std::uint64_t{1} << 40;

// The structure of a model as it is written.
struct StoredTree {
  std::vector<std::string> labels;
  std::vector<LabelId> splits;
  std::uint64_t disagreements = 0;
  std::uint64_t digest = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(labels, splits, disagreements, digest);
  }
};

template <class T>
void append_archive(BlobWriter& blob, const T& value) {
  std::ostringstream stream;
  {
    cereal::PortableBinaryOutputArchive archive(stream);
    archive(value);
  }
  const std::string bytes = stream.str();
  blob.append(std::as_bytes(std::span(bytes)));
}

template <class T>
T read_archive(const BlobSetReader& set, const char* name, std::uint64_t most_bytes) {
  const std::vector<std::byte> bytes = set.read_all(name, most_bytes);
  std::istringstream stream(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  T value;
  try {
    cereal::PortableBinaryInputArchive archive(stream);
    archive(value);
  } catch (const std::exception&) {
    std::throw_with_nested(Error(Fault::kBadData, std::string("the model's ") + name + " cannot be read"));
  }
  return value;
}

StoredTree stored_tree(const Learner& learner) {
  StoredTree stored;
  const std::size_t labels = learner.tree().labels();
  stored.labels.reserve(labels);
  stored.splits.reserve(labels);
  for (LabelId label = 0; label < labels; ++label) {
    stored.labels.emplace_back(learner.labels().name(label));
    stored.splits.push_back(learner.tree().split_for(label));
  }
  stored.disagreements = learner.disagreements();
  stored.digest = learner.structure_digest();
  return stored;
}

// Writes all but the weights, and begins these.
BlobWriter& begin_weights(const Learner& learner, BlobSetWriter& set) {
  append_archive(set.add("options"), learner.options());
  append_archive(set.add("tree"), stored_tree(learner));
  return set.add("weights");
}

// Options that no model can have been saved with are damage, not a mistake of the user.
ModelOptions read_options(const BlobSetReader& set) {
  auto options = read_archive<ModelOptions>(set, "options", kMostOptionBytes);
  try {
    options.validate();
  } catch (const Error&) {
    std::throw_with_nested(Error(Fault::kBadData, "the model's options make no sense"));
  }
  return options;
}

// Grows the tree again, label by label.
void restore_tree(const StoredTree& stored, Learner& learner) {
  if (stored.labels.size() != stored.splits.size()) throw Error(Fault::kBadData, "the model's tree is not whole");
  for (std::size_t i = 0; i < stored.labels.size(); ++i) {
    const bool fits = i == 0 ? stored.splits[i] == kNoLabel : stored.splits[i] < i;
    if (!fits || learner.labels().find(stored.labels[i], hash_label(stored.labels[i])) != kNoLabel) {
      throw Error(Fault::kBadData, "the model's tree makes no sense at label " + std::to_string(i));
    }
    learner.apply({stored.labels[i], stored.splits[i], 0});
  }
  learner.restore_disagreements(stored.disagreements);
  if (learner.structure_digest() != stored.digest)
    throw Error(Fault::kBadData, "the model's tree does not match its digest");
}

}  // namespace

template <class Archive>
void serialize(Archive& archive, ModelOptions& options) {
  archive(options.tree, options.alpha, options.loss, options.update, options.learning_rate, options.clip, options.bits,
          options.seed, options.normalize, options.interactions);
}

void save_learner(const Learner& learner, const std::filesystem::path& directory) {
  BlobSetWriter set(directory, kKind);
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
    if (writes) weights = &begin_weights(learner, set.emplace(directory, kKind));
  });
  gather_partitions(comm, learner.weights(), owners,
                    [&](Partition, std::span<const std::byte> packed) { weights->append(packed); });
  together(comm, "save the model: end", [&] {
    if (writes) set->commit();
  });
}

ModelHead read_model_head(const std::filesystem::path& directory) {
  const BlobSetReader set(directory, kKind);
  return {read_options(set), set.digest()};
}

std::unique_ptr<Learner> load_learner(const std::filesystem::path& directory) {
  return load_learner(directory, [](Partition) { return true; });
}

std::unique_ptr<Learner> load_learner(const std::filesystem::path& directory,
                                      const std::function<bool(Partition)>& wanted) {
  const BlobSetReader set(directory, kKind);
  auto learner = std::make_unique<Learner>(read_options(set));
  restore_tree(read_archive<StoredTree>(set, "tree", kMostTreeBytes), *learner);
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
