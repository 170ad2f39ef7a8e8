#include "model/learner.h"

#include <cmath>

#include "cpt/error.h"
#include "cpt/hashing.h"
#include "model/rule.h"

namespace cpt {

namespace {

ModelOptions validated(ModelOptions options) {
  options.validate();
  return options;
}

}  // namespace

Learner::Learner(const ModelOptions& options)
    : options_(validated(options)), weights_(options.bits), estimator_(tree_, weights_, options_) {}

bool Learner::goes_right(float p, const BlockContent& content, std::uint32_t slot, std::uint64_t coins) const {
  // The coins of a label are a function of the seed and the label's number, so that any rank tosses the same ones.
  if (options_.tree == TreeKind::kRandom) return (coins >> 63) == 1;
  const std::size_t left = std::size_t{2} * slot;
  return insertion_objective(p, content.leaves[left], content.leaves[left + 1], options_.effective_alpha()) > 0;
}

TreeChange Learner::settle(const ExampleView& x) const {
  TreeChange change{.label = std::string(x.label)};
  if (tree_.empty()) return change;
  std::vector<float*> lines;
  std::uint64_t coins = mix(mix(options_.seed) + tree_.labels());
  for (BlockId block = 0;;) {
    const BlockContent& content = tree_.content(block);
    const Line p = estimator_.block_probabilities(x, block, lines);
    std::uint32_t place = 1;
    while (content.child[place].kind() == Child::Kind::kNode) {
      coins = mix(coins);
      // A regressor that has diverged has no preference; who predicts with it next will say so.
      const float preference = std::isnan(p[place]) ? 0.5F : p[place];
      const bool right = goes_right(preference, content, place, coins);
      if (preference != 0.5F && right != (preference > 0.5F)) ++change.disagreements;
      place = 2 * place + (right ? 1 : 0);
    }
    const Child child = content.child[place];
    if (child.kind() == Child::Kind::kLeaf) {
      change.split = child.label();
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
  if (!std::isfinite(p)) {
    throw Error(Fault::kFailed,
                "the weights are no longer finite: use a lower --learning-rate, --normalize l2, or "
                "--merge confidence");
  }
  return p;
}

std::uint64_t Learner::structure_digest() const { return mix(tree_.digest() + labels_.digest()); }

}  // namespace cpt
