#include "model/estimators/estimator.h"

#include "model/estimators/one_against_all.h"
#include "model/estimators/pecoc_estimator.h"
#include "model/estimators/table_estimator.h"
#include "model/estimators/tree_estimator.h"

namespace cpt {

std::unique_ptr<Estimator> make_estimator(const ModelOptions& options, const Tree& tree, WeightTable& weights,
                                          Frequencies& frequencies) {
  switch (options.method) {
    case Method::kOneAgainstAll:
      return std::make_unique<OneAgainstAll>(tree, weights, options);
    case Method::kTable:
      return std::make_unique<TableEstimator>(tree, frequencies, options);
    case Method::kPecoc:
      return std::make_unique<PecocEstimator>(tree, weights, options);
    case Method::kTree:
    case Method::kConditionalPecoc:
      break;
  }
  return std::make_unique<TreeEstimator>(tree, weights, options);
}

}  // namespace cpt
