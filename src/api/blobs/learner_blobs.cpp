#include "api/blobs/learner_blobs.h"

#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "api/blobs/counts_blob.h"
#include "cpt/error.h"
#include "cpt/hashing.h"

namespace cpt {

namespace {

constexpr std::uint64_t kMostOptionBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostTreeBytes = std::uint64_t{1} << 40;

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

}  // namespace

void write_structure(const Learner& learner, BlobSetWriter& set) {
  append_archive(set.add("options"), learner.options());
  append_archive(set.add("tree"), stored_tree(learner));
  if (learner.counts()) write_counts(learner.frequencies(), set.add("counts"));
}

// Options that nothing can have been saved with are damage, not a mistake of the user.
ModelOptions read_model_options(const BlobSetReader& set) {
  auto options = read_archive<ModelOptions>(set, "options", kMostOptionBytes);
  try {
    options.validate();
  } catch (const Error&) {
    std::throw_with_nested(Error(Fault::kBadData, set.directory().string() + ": its options make no sense"));
  }
  return options;
}

void read_tree(const BlobSetReader& set, Learner& learner) {
  read_tree(set.read_all("tree", kMostTreeBytes), set.directory().string() + ": its tree", learner);
}

void read_counts(const BlobSetReader& set, Learner& learner) {
  if (!learner.counts()) return;
  BlobReader blob = set.open("counts");
  read_counts(blob, set.directory().string() + ": its blob of counts", learner.tree().labels(), learner.frequencies());
}

// Grows the tree again, label by label.
void read_tree(std::span<const std::byte> blob, const std::string& name, Learner& learner) {
  StoredTree stored;
  decode_archive(blob, name, [&](ArchiveReader& archive) { archive(stored); });
  const auto refuse = [&](const std::string& what) { throw Error(Fault::kBadData, name + " " + what); };
  if (stored.labels.size() != stored.splits.size()) refuse("is not whole");
  for (std::size_t i = 0; i < stored.labels.size(); ++i) {
    const bool fits = i == 0 ? stored.splits[i] == kNoLabel : stored.splits[i] < i;
    if (!fits || learner.labels().find(stored.labels[i], hash_label(stored.labels[i])) != kNoLabel) {
      refuse("makes no sense at label " + std::to_string(i));
    }
    learner.apply({stored.labels[i], stored.splits[i], 0});
  }
  learner.restore_disagreements(stored.disagreements);
  if (learner.structure_digest() != stored.digest) refuse("does not match its digest");
}

}  // namespace cpt
