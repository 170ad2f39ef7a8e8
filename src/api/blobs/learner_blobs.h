// What a model and a checkpoint have in common: options and tree of a learner as blobs.
//   options   of the model (cereal)
//   tree      the labels' names, and for each the label whose leaf it split (cereal): the tree is a function of that
//   counts    of the method `table` only: how often each label came with each x (see counts_blob.h)
#pragma once

#include <array>

#include "model/learning/learner.h"
#include "store/blob/archive.h"
#include "store/blob/blob_set.h"

namespace cpt {

// In the place of the kind of tree: that the options of other methods follow, which the first programs did not know.
inline constexpr std::uint8_t kMoreOptions = 255;

template <class Archive>
void serialize(Archive& archive, ModelOptions& options) {
  const bool has_more = options.method != Method::kTree || options.arity != ModelOptions().arity;
  auto kind = static_cast<std::uint8_t>(options.tree);
  std::uint8_t first = has_more ? kMoreOptions : kind;
  archive(first);
  if (first == kMoreOptions) {
    archive_choice(archive, options.method, Method::kPecoc);
    archive(options.arity, kind);
  } else {
    kind = first;
  }
  if (Archive::is_loading::value) options.tree = checked_choice(kind, TreeKind::kGiven);
  archive(options.alpha);
  archive_choice(archive, options.loss, Loss::kLogistic);
  archive_choice(archive, options.update, Update::kSgd);
  archive(options.learning_rate, options.clip, options.bits, options.seed);
  archive_choice(archive, options.normalize, Normalize::kL2);
  archive(options.interactions);
}

// What write_structure() writes, "counts" only where there are any.
inline constexpr std::array<const char*, 3> kStructureBlobs = {"options", "tree", "counts"};

void write_structure(const Learner& learner, BlobSetWriter& set);

// All throw Error(kBadData) where a blob is damaged or makes no sense.
ModelOptions read_model_options(const BlobSetReader& set);
// Into a learner with an empty tree.
void read_tree(const BlobSetReader& set, Learner& learner);
// The content of such a blob; errors call it `name`.
void read_tree(std::span<const std::byte> blob, const std::string& name, Learner& learner);
// After the tree; nothing where the method counts nothing.
void read_counts(const BlobSetReader& set, Learner& learner);

}  // namespace cpt
