#include "train/input/read_options.h"

namespace cpt {

ReadOptions read_options(const TrainingOptions& options) {
  ReadOptions read;
  read.format = options.format;
  read.multilabel = options.multilabel;
  read.seed = options.model.seed;
  read.interactions = options.model.interactions;
  read.ngrams = options.model.ngrams;
  read.fields = options.model.fields;
  read.normalize = options.model.normalize;
  read.skip_bad_lines = options.skip_bad_lines;
  read.weights_required = true;
  return read;
}

}  // namespace cpt
