#include "api/blobs/learner_blobs.h"

#include <vector>

#include "cpt/error.h"
#include "cpt/hashing.h"

namespace cpt {

namespace {

constexpr std::uint64_t kMostOptionBytes = std::uint64_t{1} << 30;  // a file may name any number of columns to ignore
constexpr std::uint64_t kMostTreeBytes = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostInputBytes = std::uint64_t{1} << 30;  // a name may be as long as a line

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
  stored.splits.reserve(labels * learner.trees().size());
  for (LabelId label = 0; label < labels; ++label) stored.labels.emplace_back(learner.labels().name(label));
  for (const Tree& tree : learner.trees()) {
    for (LabelId label = 0; label < labels; ++label) stored.splits.push_back(tree.split_for(label));
  }
  stored.disagreements = learner.disagreements();
  stored.digest = learner.structure_digest();
  return stored;
}

constexpr std::size_t kPiece = std::size_t{1} << 20;

template <class T>
void append(T value, std::vector<std::byte>& bytes) {
  const auto* begin = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

// Reads a key and its labels.
void read_entry(const StoredBytes& bytes, std::uint64_t key, std::size_t labels, const auto& refuse,
                Frequencies& frequencies) {
  const auto count = read_value<std::uint32_t>(bytes);
  if (count == 0) refuse("has a key without labels");
  LabelId least = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto label = read_value<LabelId>(bytes);
    const auto units = read_value<Units>(bytes);
    if (label < least || label >= labels || units == 0) refuse("makes no sense at label " + std::to_string(label));
    least = label + 1;
    frequencies.add(key, label, units);
  }
}

void read_entries(const StoredBytes& bytes, const std::string& name, std::size_t labels, Frequencies& frequencies) {
  const auto refuse = [&](const std::string& what) { throw Error(Fault::kBadData, name + " " + what); };
  const auto keys = read_value<std::uint64_t>(bytes);
  std::uint64_t before = 0;
  for (std::uint64_t i = 0; i < keys; ++i) {
    const auto key = read_value<std::uint64_t>(bytes);
    if (i > 0 && key <= before) refuse("has its keys out of order");
    before = key;
    read_entry(bytes, key, labels, refuse, frequencies);
  }
}

[[noreturn]] void refuse_rest(const std::string& name) {
  throw Error(Fault::kBadData, name + " has bytes after its last key");
}

}  // namespace

void write_structure(const Learner& learner, BlobSetWriter& set) {
  append_archive(set.add("options"), learner.options());
  append_archive(set.add("tree"), stored_tree(learner));
  if (learner.uses_frequencies()) write_counts(learner.frequencies(), set.add("counts"));
  if (learner.feature_counts().used()) write_feature_counts(learner.feature_counts(), set.add("features"));
  if (!learner.input().empty()) append_archive(set.add("input"), learner.input());
}

// Invalid options mean damage, not a mistake of the user, since nothing is saved with them.
ModelOptions read_model_options(const BlobSetReader& set) {
  auto options = read_archive<ModelOptions>(set, "options", kMostOptionBytes);
  try {
    options.validate();
  } catch (const Error&) {
    std::throw_with_nested(Error(Fault::kBadData, set.directory().string() + ": its options make no sense"));
  }
  return options;
}

std::unique_ptr<Learner> read_structure(const BlobSetReader& set) {
  auto learner = std::make_unique<Learner>(read_model_options(set));
  read_tree(set.read_all("tree", kMostTreeBytes), set.directory().string() + ": its tree", *learner);
  if (learner->uses_frequencies()) {
    BlobReader blob = set.open("counts");
    read_counts(blob, set.directory().string() + ": its blob of counts", learner->tree().labels(),
                learner->frequencies());
  }
  if (learner->feature_counts().used()) {
    BlobReader blob = set.open("features");
    read_feature_counts(blob, set.directory().string() + ": its blob of features", learner->feature_counts());
  }
  if (set.has("input")) learner->set_input(read_archive<InputProfile>(set, "input", kMostInputBytes));
  return learner;
}

void read_tree(std::span<const std::byte> blob, const std::string& name, Learner& learner) {
  StoredTree stored;
  decode_archive(blob, name, [&](ArchiveReader& archive) { archive(stored); });
  const auto refuse = [&](const std::string& what) { throw Error(Fault::kBadData, name + " " + what); };
  const std::size_t labels = stored.labels.size();
  if (labels * learner.trees().size() != stored.splits.size()) refuse("is not complete");
  for (std::size_t i = 0; i < labels; ++i) {
    TreeChange change{stored.labels[i], {}, 0};
    bool fits = true;
    for (std::size_t at = i; at < stored.splits.size(); at += labels) {
      change.splits.push_back(stored.splits[at]);
      fits = fits && (i == 0 ? stored.splits[at] == kNoLabel : stored.splits[at] < i);
    }
    if (!fits || learner.labels().find(stored.labels[i], hash_label(stored.labels[i])) != kNoLabel) {
      refuse("makes no sense at label " + std::to_string(i));
    }
    learner.apply(change);
  }
  learner.restore_disagreements(stored.disagreements);
  if (learner.structure_digest() != stored.digest) refuse("does not match its digest");
}

void write_feature_counts(const FeatureCounts& counts, BlobWriter& blob) {
  std::vector<std::byte> bytes;
  const std::vector<FeatureCounts::Stored> entries = counts.stored();
  append(counts.stored_examples().renewed, bytes);
  append(counts.stored_examples().all, bytes);
  append<std::uint64_t>(entries.size(), bytes);
  for (const FeatureCounts::Stored& entry : entries) {
    append(entry.index, bytes);
    append(entry.renewed, bytes);
    append(entry.units, bytes);
    if (bytes.size() < kPiece) continue;
    blob.append(bytes);
    bytes.clear();
  }
  blob.append(bytes);
}

void read_feature_counts(BlobReader& blob, const std::string& name, FeatureCounts& counts) {
  const auto refuse = [&](const std::string& what) { throw Error(Fault::kBadData, name + " " + what); };
  const StoredBytes bytes = front_of(blob);
  FeatureCounts::Examples examples;
  examples.renewed = read_value<std::uint64_t>(bytes);
  examples.all = read_value<std::uint64_t>(bytes);
  const auto entries = read_value<std::uint64_t>(bytes);
  if (examples.renewed > examples.all || entries > counts.size()) refuse("makes no sense");
  std::uint64_t least = 0;
  for (std::uint64_t i = 0; i < entries; ++i) {
    FeatureCounts::Stored entry;
    entry.index = read_value<std::uint32_t>(bytes);
    entry.renewed = read_value<std::uint8_t>(bytes);
    entry.units = read_value<std::uint64_t>(bytes);
    const bool fits = entry.index >= least && entry.index < counts.size() && entry.units > 0 &&
                      entry.units <= FeatureCounts::kMostUnits;
    if (!fits) refuse("makes no sense at entry " + std::to_string(i));
    least = entry.index + std::uint64_t{1};
    counts.restore(entry);
  }
  counts.restore(examples);
  std::byte rest;
  if (blob.read({&rest, 1}) != 0) refuse("has bytes after its last entry");
}

void write_counts(const Frequencies& frequencies, BlobWriter& blob) {
  std::vector<std::byte> bytes;
  append<std::uint64_t>(frequencies.keys(), bytes);
  for (const std::uint64_t key : frequencies.sorted_keys()) {
    const Frequencies::Entry& entry = *frequencies.find(key);
    append(key, bytes);
    append(static_cast<std::uint32_t>(entry.counts.size()), bytes);
    for (const Frequencies::Count& count : entry.counts) {
      append(count.label, bytes);
      append(count.units, bytes);
    }
    if (bytes.size() < kPiece) continue;
    blob.append(bytes);
    bytes.clear();
  }
  blob.append(bytes);
}

void read_counts(BlobReader& blob, const std::string& name, std::size_t labels, Frequencies& frequencies) {
  read_entries(front_of(blob), name, labels, frequencies);
  std::byte rest;
  if (blob.read({&rest, 1}) != 0) refuse_rest(name);
}

void unpack_counts(std::span<const std::byte> packed, const std::string& name, std::size_t labels,
                   Frequencies& frequencies) {
  const auto refuse = [&] { throw Error(Fault::kBadData, name + " ends too early"); };
  read_entries(front_of(packed, refuse), name, labels, frequencies);
  if (!packed.empty()) refuse_rest(name);
}

}  // namespace cpt
