#include "cpt/options.h"

#include "core/input_limits.h"
#include "core/ngram_options.h"
#include "core/number_text.h"
#include "cpt/error.h"

namespace cpt {

namespace {

void require(bool holds, const std::string& option, double value, const std::string& range) {
  if (holds) return;
  throw Error(Fault::kUsage, option + " is " + number_text(value) + ": it must be " + range);
}

}  // namespace

void ModelOptions::validate() const {
  require(arity == 2 || arity == 4 || arity == 8 || arity == 16, "--arity", arity, "2, 4, 8 or 16");
  require(alpha > 0 && alpha <= 1, "--alpha", alpha, "above 0 and at most 1");
  require(trees >= 1 && trees <= kMostTrees, "--trees", trees, "between 1 and 8");
  if (trees > 1 && (!is_tree() || tree == TreeKind::kBalanced || tree == TreeKind::kGiven)) {
    throw Error(Fault::kUsage,
                "--trees is " + std::to_string(trees) +
                    ": several trees must grow online or random, or they are equal (--method tree or cpecoc, --tree)");
  }
  require(learning_rate >= 1e-12 && learning_rate <= 1e12, "--learning-rate", learning_rate, "between 1e-12 and 1e12");
  require(clip >= 0 && clip < 0.5, "--clip", clip, "at least 0 and below 0.5");
  require(bits >= kLeastBits && bits <= kMostBits, "--bits", bits, "between 10 and 40");
  require_pairs(interactions);
  parse_ngrams(ngrams);
}

ModelOptions ModelOptions::of_tree(std::size_t t) const {
  ModelOptions of = *this;
  of.trees = 1;
  of.alpha *= static_cast<double>(kMostTrees + 1 - static_cast<int>(t)) / (kMostTrees + 1);
  of.seed += t;
  return of;
}

CrossedNames crossed_names(const std::string& interaction) {
  const std::size_t colon = interaction.find(':');
  const bool has_both = colon != std::string::npos && colon > 0 && colon + 1 < interaction.size();
  if (has_both) return {interaction.substr(0, colon), interaction.substr(colon + 1), true};
  if (interaction.size() == 2 && interaction != "::") return {interaction.substr(0, 1), interaction.substr(1), false};
  throw Error(Fault::kUsage, "--interactions " + interaction +
                                 ": give the first letters of two namespaces, like ab, or their names, like user:page; "
                                 "repeat the option for each pair");
}

void require_pairs(const std::vector<std::string>& interactions) {
  for (const std::string& pair : interactions) crossed_names(pair);
}

}  // namespace cpt
