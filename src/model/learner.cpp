#include "model/learner.h"

#include <cmath>

#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/block_steps.h"

namespace cpt {

namespace {

ModelOptions validated(ModelOptions options) {
  options.validate();
  return options;
}

}  // namespace

Learner::Learner(const ModelOptions& options)
    : options_(validated(options)), weights_(options.bits), estimator_(tree_, weights_, options_) {}

TreeChange Learner::settle(const ExampleView& x) const {
  TreeChange change{.label = std::string(x.label)};
  if (tree_.empty()) return change;
  std::vector<float*> lines;
  Settling settling = begin_settling(options_, tree_.labels());
  for (BlockId block = 0;;) {
    const BlockContent& content = tree_.content(block);
    const Line p = estimator_.block_probabilities(x, block, lines);
    const Child child = content.child[settle_in_block(p, content, options_, settling)];
    if (child.kind() == Child::Kind::kLeaf) {
      change.split = child.label();
      change.disagreements = settling.disagreements;
      return change;
    }
    block = child.block();
  }
}

LabelId Learner::apply(const TreeChange& change) {
  labels_.add(change.label, hash_label(change.label));
  disagreements_ += change.disagreements;
  return change.split == kNoLabel ? tree_.add_first() : tree_.split(change.split);
}

double Learner::predict(Walk& walk) const {
  const double p = estimator_.predict(walk);
  if (!std::isfinite(p)) throw_diverged();
  return p;
}

void throw_diverged() {
  throw Error(Fault::kFailed,
              "the weights are no longer finite: use a lower --learning-rate, --normalize l2, or "
              "--merge confidence");
}

std::uint64_t Learner::structure_digest() const { return mix(tree_.digest() + labels_.digest()); }

}  // namespace cpt
