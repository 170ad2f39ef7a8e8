// The blobs that a model and a checkpoint have in common: all of a learner but its weights.
//   options   of the model (cereal)
//   tree      the names of labels, and for each the label whose leaf it split, tree after tree (cereal); they determine
//             the trees
//   counts    method `table` only: how often each label came with each x (see write_counts)
//   features  only if values are scaled by rarity: the counts of features (see write_feature_counts)
//   input     only if it is known: what the model was trained on (cereal)
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "api/options/option_values.h"
#include "core/input_profile.h"
#include "model/estimators/table.h"
#include "model/learning/learner.h"
#include "store/blob/archive.h"
#include "store/blob/blob_set.h"

namespace cpt {

// The first byte of stored options says which options follow. In the oldest format, this byte is the kind of tree,
// which is below all of these values. Each value implies the options of the values above it, and adds its own.
inline constexpr std::uint8_t kMoreOptions = 255;         // method and arity
inline constexpr std::uint8_t kCalibrationOptions = 254;  // calibrate and rarity, which models without them do not have
inline constexpr std::uint8_t kTreesOptions = 253;        // the number of trees, if there are several
inline constexpr std::uint8_t kFieldOptions = 252;   // keys of JSON lines and columns of tables, if not the default
inline constexpr std::uint8_t kNgramsOptions = 251;  // n-grams, if there are any

// Archives a choice. When reading, values above the largest one in `names` are refused.
template <class Archive, class Choice>
void archive_choice(Archive& archive, Choice& choice, const Names<Choice>& names) {
  Choice last{};
  for (const auto& [name, value] : names) last = std::max(last, value);
  archive_choice(archive, choice, last);
}

template <class Archive>
void serialize(Archive& archive, InputProfile& profile) {
  archive(profile.format, profile.name_spaces, profile.features);
}

template <class Archive>
void serialize(Archive& archive, FieldRoles& roles) {
  archive(roles.label, roles.importance, roles.text, roles.categorical, roles.ignored);
}

inline std::uint8_t first_of(const ModelOptions& options) {
  if (!options.ngrams.empty()) return kNgramsOptions;
  if (options.fields != FieldRoles{}) return kFieldOptions;
  return options.trees > 1 ? kTreesOptions : kCalibrationOptions;
}

template <class Archive>
void serialize(Archive& archive, ModelOptions& options) {
  auto kind = static_cast<std::uint8_t>(options.tree);
  std::uint8_t first = first_of(options);
  archive(first);
  if (first >= kNgramsOptions) {
    archive_choice(archive, options.method, method_names());
    archive(options.arity, kind);
  } else {
    kind = first;
  }
  if (first >= kNgramsOptions && first != kMoreOptions) {
    archive(options.calibrate, options.rarity);
  } else {
    options.calibrate = options.rarity = false;
  }
  if (first >= kNgramsOptions && first <= kTreesOptions) archive(options.trees);
  if (first >= kNgramsOptions && first <= kFieldOptions) archive(options.fields);
  if (first == kNgramsOptions) archive(options.ngrams);
  if (Archive::is_loading::value) options.tree = checked_choice(kind, TreeKind::kGiven);
  archive(options.alpha);
  archive_choice(archive, options.loss, loss_names());
  archive_choice(archive, options.update, update_names());
  archive(options.learning_rate, options.clip, options.bits, options.seed);
  archive_choice(archive, options.normalize, normalize_names());
  archive(options.interactions);
}

// The blobs that write_structure() writes; "counts", "features" and "input" only where the model has them.
inline constexpr std::array<const char*, 5> kStructureBlobs = {"options", "tree", "counts", "features", "input"};

void write_structure(const Learner& learner, BlobSetWriter& set);

// All functions that read throw Error(kBadData) if a blob is damaged or its values make no sense.
ModelOptions read_model_options(const BlobSetReader& set);
// Makes a learner with the options, the tree and the counts of a set.
std::unique_ptr<Learner> read_structure(const BlobSetReader& set);
// Grows the empty trees of `learner` from the content of the blob "tree". Errors call the blob `name`.
void read_tree(std::span<const std::byte> blob, const std::string& name, Learner& learner);

// Feature counts are written as
//   examples up to the last renewal, and all (u64 each), number of entries (u64), and for each, ascending:
//   index (u32), log2 of the count at the last renewal in eighths of a bit, rounded (u8), units (u64)
void write_feature_counts(const FeatureCounts& counts, BlobWriter& blob);
void read_feature_counts(BlobReader& blob, const std::string& name, FeatureCounts& counts);

// Frequencies are written as
//   keys (u64), and for each key, ascending:
//   key (u64), labels (u32), and for each label, ascending: label (u32), units (u64)
// All numbers are little-endian. Equal frequencies give equal bytes.
void write_counts(const Frequencies& frequencies, BlobWriter& blob);
// Adds the frequencies that a blob holds. Throws Error(kBadData) that begins with `name` if it is damaged or has a
// label that is not below `labels`.
void read_counts(BlobReader& blob, const std::string& name, std::size_t labels, Frequencies& frequencies);
// The same for bytes in memory.
void unpack_counts(std::span<const std::byte> packed, const std::string& name, std::size_t labels,
                   Frequencies& frequencies);

}  // namespace cpt
