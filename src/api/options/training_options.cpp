#include <string>

#include "api/options/given_tree_files.h"
#include "api/options/option_table.h"
#include "cpt/error.h"
#include "cpt/trainer.h"
#include "data/shards/shards.h"

namespace cpt {

namespace {

void check_given_tree(const TrainingOptions& options) {
  const bool is_given = options.model.tree == TreeKind::kGiven;
  if (options.given_tree.empty()) {
    if (!is_given || !options.init.empty() || options.resume) return;
    throw Error(Fault::kUsage, "a given tree comes from --tree file:PATH or --tree huffman:PATH");
  }
  const std::string option = "--tree " + options.given_tree;
  if (!is_given || !parse_tree_source(options.given_tree)) {
    throw Error(Fault::kUsage, option + " does not name a file that gives the tree: use file:PATH or huffman:PATH");
  }
  if (!options.model.is_tree()) {
    throw Error(Fault::kUsage, option + " is of no use: this --method estimates nothing by a tree");
  }
  if (!options.init.empty()) {
    throw Error(Fault::kUsage, option + " and --init " + options.init + " both bring a tree: leave one of them out");
  }
}

void check_validation(const TrainingOptions& options) {
  const ValidationOptions& validation = options.validation;
  if (validation.data.empty()) return;
  if (options.data.empty() && !options.resume) {
    throw Error(Fault::kUsage, "--validate needs --data: a run that does not train has nothing to validate");
  }
  if (!validation.keep_best) return;
  if (!options.test.empty()) {
    throw Error(
        Fault::kUsage,
        "--test and --keep-best exclude each other, because the last model would be tested, not the one that is "
        "kept: leave out --test, and then run cpt evaluate --model RUN/model --data TEST");
  }
  if (validation.keep_best == Metric::kTop1ErrorSeen && options.model.trees > 1) {
    throw Error(Fault::kUsage, "--keep-best top1_error_seen is not known for several trees: use log");
  }
}

}  // namespace

void TrainingOptions::validate() const {
  model.validate();
  check_given_tree(*this);
  check_validation(*this);
  if (data.empty() && !resume && (init.empty() || test.empty())) {
    throw Error(Fault::kUsage,
                "--data is missing: name files, directories or globs; or a finished model and what to test it on: "
                "--init MODEL --test PATH");
  }
  if (!labels.empty() && !resume && (model.method != Method::kPecoc || !init.empty())) {
    throw Error(Fault::kUsage, init.empty() ? "--labels is for --method pecoc, other methods meet labels as they come"
                                            : "--labels is not for --init: the model has its labels");
  }
  if (split == 0 || split > kMostFileParts) {
    throw Error(Fault::kUsage, "--split is " + std::to_string(split) + ": it must be at least 1 and at most " +
                                   std::to_string(kMostFileParts));
  }
  if (passes == 0) throw Error(Fault::kUsage, "--passes is 0: it must be at least 1");
  if (resume && checkpoints.directory.empty()) {
    throw Error(Fault::kUsage, "--resume needs a directory of checkpoints, and none is named");
  }
  if (!(sync_fraction >= 0 && sync_fraction <= 1)) {  // 0: auto
    throw Error(Fault::kUsage, "--sync-fraction must be above 0 and at most 1");
  }
}

bool may_change_on_resume(OnResume on_resume, const TrainingOptions& then) {
  if (on_resume == OnResume::kMayChangeIfPartitioned) return then.placement == Placement::kPartitioned;
  return on_resume != OnResume::kFixed;
}

TrainingOptions options_on_resume(const TrainingOptions& then, const TrainingOptions& now) {
  TrainingOptions options = then;
  for (const TrainingOptionRow& row : training_option_table()) {
    if (may_change_on_resume(row.on_resume, then)) row.binding.copy(options, now);
  }
  if (now.data.empty()) options.data = then.data;
  if (now.test.empty()) options.test = then.test;
  if (now.validation.data.empty()) options.validation.data = then.validation.data;
  options.checkpoints = now.checkpoints;
  options.progress_every = now.progress_every;
  options.resume = now.resume;
  return options;
}

}  // namespace cpt
