#include "train/input/read_options.h"

namespace cpt {

ReadOptions read_options(const TrainingOptions& options) {
  ReadOptions read = read_options_of(options.model);
  read.format = options.format;
  read.columns = options.columns;
  read.multilabel = options.multilabel;
  read.skip_bad_lines = options.skip_bad_lines;
  read.weights_required = true;
  read.is_of_model = options.resume || !options.init.empty();
  return read;
}

}  // namespace cpt
