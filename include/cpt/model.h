// A model in the hands of a program: probabilities of labels in O(log n), best labels, learning example by example.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cpt/example.h"
#include "cpt/options.h"

namespace cpt {

class Learner;

struct Prediction {
  std::string_view label;  // valid until the model learns or dies
  double probability = 0;
};

// Owns tree, labels and weights. Movable. Const members only read and may run in several threads at a time.
class Model {
 public:
  // An empty model. Throws Error(kUsage) for options out of range, and for PECOC, which must know its labels before it
  // learns: cpt_dist makes such a model. Throws Error(kFailed) where there is no room for the table, as load() does.
  explicit Model(const ModelOptions& options);
  // Reads a model that save() or cpt_dist wrote. Throws Error(kNoInput) if there is none, Error(kBadData) if it is
  // damaged.
  static Model load(const std::filesystem::path& directory);
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  // Writes the model under this name, whole or not at all. Throws Error(kCannotWrite), Error(kFailed) if the weights
  // have diverged.
  void save(const std::filesystem::path& directory) const;

  const ModelOptions& options() const;
  std::uint64_t labels() const;

  // All that take an example throw Error(kUsage) for a value that is not finite or above 1e30 in size.

  // P(label | x): 0 for a label that the model has not met. Label and importance of x itself are not looked at.
  double probability(const ExampleView& x, std::string_view label) const;
  // The k most probable labels, best first, exact; only those of at least `threshold`.
  std::vector<Prediction> top_k(const ExampleView& x, std::size_t k, double threshold = 0) const;
  // Predicts, then learns x as Algorithm 2 does; a new label joins the tree. Returns P(label of x | x) before learning,
  // 0 if the label is new. Throws Error(kUsage) if x has no label or an importance that is not above 0 and at most
  // 1e12, Error(kBadData) if the label is new to PECOC, Error(kFailed) if the weights have diverged.
  double learn(const ExampleView& x);
  // Whether x has a label that learn() takes: for PECOC one of those that it was begun with, else any.
  bool takes_label(const ExampleView& x) const;

  // The parts, for this project's own layers.
  const Learner& learner() const { return *learner_; }
  Learner& learner() { return *learner_; }
  explicit Model(std::unique_ptr<Learner> learner);

 private:
  std::unique_ptr<Learner> learner_;
};

}  // namespace cpt
