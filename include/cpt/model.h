// A trained model: probabilities of single labels in O(log n), the most probable labels, and learning one example at a
// time. n is the number of labels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
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
  std::uint64_t number = 0;  // of the label; see Model::label()
};

// Models with equal digests are equal, bit by bit.
struct ModelDigests {
  std::uint64_t tree = 0;     // of trees and labels
  std::uint64_t weights = 0;  // of weights and counts
  friend bool operator==(const ModelDigests&, const ModelDigests&) = default;
};

// Size and shape of a model.
struct ModelFigures {
  std::uint64_t rows = 0;       // of the weight tables of all trees; 0 for Method::kTable, which has none
  std::uint64_t rows_used = 0;  // of these, rows that were ever trained: if few are left, features share rows
  std::uint64_t trees = 1;
  std::uint32_t depth_max = 0;  // nodes above the deepest leaf of all trees; 0 if the method is not a tree
  double depth_mean = 0;
  double depth_bound = 0;  // the paper's bound on depth_max; 0 if it does not apply
};

// Owns tree, labels and weights: 64 * 2^bits bytes of address space, of which memory is taken as rows are first
// written. Movable; a moved-from model may only be destroyed or assigned to. Several threads may call const members at
// a time; learn() needs the model for itself.
class Model {
 public:
  // Makes a model without labels. Throws Error(kUsage) if an option is out of range, and for Method::kPecoc and
  // TreeKind::kGiven, which must know labels beforehand (train() and cpt_dist can make such models); Error(kFailed) if
  // there is no memory for the weight table.
  explicit Model(const ModelOptions& options);
  // Reads a model that save() or cpt_dist wrote. If another process replaces the model meanwhile, reads the old one or
  // the new one. Throws Error(kUsage) for an empty name; Error(kNoInput) if there is none; Error(kBadData) if it is
  // damaged or of a newer format; Error(kFailed) if there is no memory for the weight table.
  static Model load(const std::filesystem::path& directory);
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  // Writes the model to `directory`, completely or not at all, and replaces a model that is there; creates the missing
  // directories above it. A process that is killed leaves the old model or the new one; only where the file system
  // cannot exchange two names (NFS, for one) can the old model be left as "DIRECTORY.old.tmp-NUMBER" alone, and must
  // then be renamed back. One writer per directory at a time: removes what killed writers left beside it,
  // "DIRECTORY.tmp-NUMBER" and "DIRECTORY.old.tmp-NUMBER". Throws Error(kUsage) for an empty name,
  // Error(kCannotWrite), or Error(kFailed) if the weights have diverged.
  void save(const std::filesystem::path& directory) const;

  const ModelOptions& options() const;
  // The number of labels.
  std::uint64_t labels() const;
  // The name of a label, numbered from 0 in the order in which they joined. Points into the model, as in Prediction.
  // Throws Error(kUsage) if there are not that many.
  std::string_view label(std::uint64_t number) const;
  // The number of a label; nothing if the model does not know it.
  std::optional<std::uint64_t> find(std::string_view label) const;
  // Digests of all that was learned: those of `tree` and `weights` in summary.json of a run with this result. O(size).
  ModelDigests digests() const;
  // O(size).
  ModelFigures figures() const;

  // Functions that take an example throw Error(kUsage) if a feature value is not finite or above 1e30 in size.

  // P(label | x), in [0, 1]; 0 if the model does not know the label. Ignores the label and importance of x.
  double probability(const ExampleView& x, std::string_view label) const;
  // The same of several labels, in their order. Paths share the blocks near the root: a hundred labels take 0.6 to 0.8
  // of the time that they take one by one, but two to ten take a little longer.
  std::vector<double> probabilities(const ExampleView& x, std::span<const std::string> labels) const;
  std::vector<double> probabilities(const ExampleView& x, std::span<const std::string_view> labels) const;
  std::vector<double> probabilities(const ExampleView& x, std::initializer_list<std::string_view> labels) const;
  // The k most probable labels, most probable first, found by exact search. Leaves out labels below `threshold`.
  // Throws Error(kUsage) if that is NaN.
  std::vector<Prediction> top_k(const ExampleView& x, std::size_t k, double threshold = 0) const;
  // The part of the features of x, in [0, 1], that the model has met, so far as it counts features: it does so with
  // ModelOptions::rarity, in part of the stream, and takes the counts over now and then, at first after 100 examples.
  // Features that share a count are met together. NaN if nothing was counted yet, and if x has no feature but the
  // constant one. A small part means that little is known of x, whatever the probabilities.
  double known_part(const ExampleView& x) const;
  // Learns x, as Algorithm 2 of the paper does; a new label joins the tree. Returns P(label of x | x) as it was before,
  // 0 if the label is new. Throws Error(kUsage) if x has no label, or its importance is not in (0, 1e12];
  // Error(kBadData) if a PECOC model does not know the label; Error(kFailed) if the weights have diverged.
  double learn(const ExampleView& x);
  // Learns the examples of a batch in order, as learn(x) does. Prefetches, so it takes 0.7 of the time where the used
  // rows are more than the caches hold. Returns for each example what learn(x) would return. Throws Error(kUsage) or
  // Error(kBadData) before it learns anything, if learn(x) would refuse one of them; Error(kFailed) if the weights have
  // diverged, after some were learned.
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
