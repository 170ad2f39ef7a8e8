#include "app/dist/options/unused_options.h"

namespace cpt {

namespace {

// Where an option counts, and whether that is here.
struct Use {
  const char* option;
  bool is_here;
  const char* where;
};

bool grows_by_alpha(const ModelOptions& model) {
  return model.is_tree() && (model.tree == TreeKind::kOnline || model.tree == TreeKind::kGiven);
}

}  // namespace

std::vector<std::string> describe_unused(const DistOptions& options) {
  const TrainingOptions& training = options.training;
  const ModelOptions& model = training.model;
  const bool regresses = model.method != Method::kTable;
  std::vector<std::string> lines;
  for (const Use& use : {
           Use{"alpha", grows_by_alpha(model),
               model.is_tree() ? "--tree online, and for labels that a given tree lacks" : "methods that are trees"},
           Use{"arity", model.method == Method::kConditionalPecoc, "--method cpecoc"},
           Use{"bits", regresses, "methods that have regressors"},
           Use{"clip", regresses, "methods that have regressors"},
           Use{"keep", training.checkpoints.keep > 0, "a run that writes checkpoints"},
           Use{"learning-rate", regresses, "methods that have regressors"},
           Use{"loss", regresses, "methods that have regressors"},
           Use{"merge", training.placement == Placement::kReplicated, "--placement replicated"},
           Use{"passes", !training.data.empty(), "a run with --data"},
           Use{"test-frozen", !training.test.empty(), "a run with --test"},
           Use{"tree", model.is_tree(), "methods that are trees"},
           Use{"update", regresses, "methods that have regressors"},
       }) {
    if (!use.is_here && options.is_given(use.option)) {
      lines.push_back(std::string("--") + use.option + " changes nothing here: it is for " + use.where);
    }
  }
  return lines;
}

}  // namespace cpt
