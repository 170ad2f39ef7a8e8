// A trained model: probabilities of single labels in O(log n), the most probable labels, and learning one example at a
// time. n is the number of labels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"

namespace cpt {

class Learner;

// A label and its probability given x.
struct Prediction {
  std::string_view label;  // points into the model; valid until it learns or dies
  double probability = 0;
};

// Models with equal digests are equal, bit by bit.
struct ModelDigests {
  std::uint64_t tree = 0;     // of trees and labels
  std::uint64_t weights = 0;  // of weights and counts
  friend bool operator==(const ModelDigests&, const ModelDigests&) = default;
};

// Owns tree, labels and weights: 64 * 2^bits bytes of address space, of which memory is taken as rows are first
// written. Movable; a moved-from model may only be destroyed or assigned to. Several threads may call const members at
// a time; learn() needs the model for itself.
class Model {
 public:
  // Makes a model without labels. Throws Error(kUsage) if an option is out of range, or for Method::kPecoc, which must
  // know all labels beforehand (train() and cpt_dist can make such a model); Error(kFailed) if there is no memory for
  // the weight table.
  explicit Model(const ModelOptions& options);
  // Reads a model that save() or cpt_dist wrote. If another process replaces the model meanwhile, reads the old one or
  // the new one. Throws Error(kNoInput) if there is none; Error(kBadData) if it is damaged or of a newer format;
  // Error(kFailed) if there is no memory for the weight table.
  static Model load(const std::filesystem::path& directory);
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  // Writes the model to `directory`, completely or not at all, and replaces a model that is there; creates the missing
  // directories above it. A process that is killed leaves the old model or the new one; only where the file system
  // cannot exchange two names (NFS, for one) can the old model be left as "DIRECTORY.old.tmp-NUMBER" alone, and must
  // then be renamed back. One writer per directory at a time: removes what killed writers left beside it,
  // "DIRECTORY.tmp-NUMBER" and "DIRECTORY.old.tmp-NUMBER". Throws Error(kCannotWrite), or Error(kFailed) if the weights
  // have diverged.
  void save(const std::filesystem::path& directory) const;

  const ModelOptions& options() const;
  // The number of labels.
  std::uint64_t labels() const;
  // The name of a label, numbered from 0 in the order in which they joined. Points into the model, as in Prediction.
  // Throws Error(kUsage) if there are not that many.
  std::string_view label(std::uint64_t number) const;
  // Digests of all that was learned: those of `tree` and `weights` in summary.json of a run with this result. O(size).
  ModelDigests digests() const;

  // Functions that take an example throw Error(kUsage) if a feature value is not finite or above 1e30 in size.

  // P(label | x), in [0, 1]; 0 if the model does not know the label. Ignores the label and importance of x.
  double probability(const ExampleView& x, std::string_view label) const;
  // The same of several labels, in their order. Faster than one by one: paths share the blocks near the root.
  std::vector<double> probabilities(const ExampleView& x, std::span<const std::string> labels) const;
  // The k most probable labels, most probable first, found by exact search. Leaves out labels below `threshold`.
  std::vector<Prediction> top_k(const ExampleView& x, std::size_t k, double threshold = 0) const;
  // Learns x, as Algorithm 2 of the paper does; a new label joins the tree. Returns P(label of x | x) as it was before,
  // 0 if the label is new. Throws Error(kUsage) if x has no label, or its importance is not in (0, 1e12];
  // Error(kBadData) if a PECOC model does not know the label; Error(kFailed) if the weights have diverged.
  double learn(const ExampleView& x);
  // Learns the examples of a batch in order, as learn(x) does, but faster, because it prefetches. Returns for each
  // example what learn(x) would return. Throws Error(kUsage) or Error(kBadData) before it learns anything, if learn(x)
  // would refuse one of them; Error(kFailed) if the weights have diverged, after some were learned.
  std::vector<double> learn(const Batch& batch);
  // Whether learn() accepts the label of x: a PECOC model knows all its labels from the start, others accept any that
  // is not empty.
  bool takes_label(const ExampleView& x) const;

  // The implementation, for the layers of this project.
  const Learner& learner() const { return *learner_; }
  Learner& learner() { return *learner_; }
  explicit Model(std::unique_ptr<Learner> learner);

 private:
  std::unique_ptr<Learner> learner_;
};

}  // namespace cpt
