#include "app/shared/option_names.h"

namespace cpt {

const Names<Format>& format_names() {
  static const Names<Format> names{{"auto", Format::kAuto},
                                   {"vw", Format::kVw},
                                   {"libsvm", Format::kLibsvm},
                                   {"fasttext", Format::kFasttext},
                                   {"binary", Format::kBinary}};
  return names;
}

const Names<MultiLabel>& multilabel_names() {
  static const Names<MultiLabel> names{{"first", MultiLabel::kFirst},
                                       {"sample", MultiLabel::kSample},
                                       {"split", MultiLabel::kSplit},
                                       {"error", MultiLabel::kError}};
  return names;
}

const Names<Method>& method_names() {
  static const Names<Method> names{{"tree", Method::kTree},
                                   {"cpecoc", Method::kConditionalPecoc},
                                   {"oaa", Method::kOneAgainstAll},
                                   {"table", Method::kTable},
                                   {"pecoc", Method::kPecoc}};
  return names;
}

const Names<TreeKind>& tree_names() {
  static const Names<TreeKind> names{
      {"online", TreeKind::kOnline}, {"balanced", TreeKind::kBalanced}, {"random", TreeKind::kRandom}};
  return names;
}

std::string name_of_tree(TreeKind tree) { return tree == TreeKind::kGiven ? "given" : name_of(tree_names(), tree); }

const Names<Loss>& loss_names() {
  static const Names<Loss> names{{"logistic", Loss::kLogistic}, {"squared", Loss::kSquared}};
  return names;
}

const Names<Update>& update_names() {
  static const Names<Update> names{{"adaptive", Update::kAdaptive}, {"sgd", Update::kSgd}};
  return names;
}

const Names<Normalize>& normalize_names() {
  static const Names<Normalize> names{{"none", Normalize::kNone}, {"l2", Normalize::kL2}};
  return names;
}

const Names<Placement>& placement_names() {
  static const Names<Placement> names{{"partitioned", Placement::kPartitioned}, {"replicated", Placement::kReplicated}};
  return names;
}

const Names<MergeRule>& merge_names() {
  static const Names<MergeRule> names{{"confidence", MergeRule::kConfidence},
                                      {"contraction", MergeRule::kContraction},
                                      {"average", MergeRule::kAverage}};
  return names;
}

CLI::Option* add_multilabel(CLI::App& app, MultiLabel& multilabel) {
  return add_choice(app, "--multilabel", multilabel, multilabel_names(),
                    "what becomes of a libsvm or fasttext line with several labels: first takes the first; sample "
                    "takes one at random, the same in every pass; split makes an example of each, and shares the "
                    "importance among them; error makes it a bad line");
}

}  // namespace cpt
