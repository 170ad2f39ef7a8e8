// Decides which validation is the best, and whether training ends early.
#pragma once

#include <string>

#include "cpt/trainer.h"

namespace cpt {

// The mean loss that the metric names; not a number if the validation has no example, or no sample, for it.
double value_of(Metric metric, const Losses& losses);

// Enters a validation as the last one of the run, and as the best one if its value is lower than all before it. Sets
// its without_improvement. Returns whether it is the best.
bool enter_validation(Validation validation, Summary& summary);

// A warning if the metric leaves out labels that were not learned before, and the last validation left out another
// number of examples for that than the best one, so that their values are of different examples; else empty.
std::string warning_of_other_examples(Metric metric, const Summary& summary);

// Whether the last `early_stop` validations were all no better than the best one before, so that training ends.
bool is_to_stop_early(const ValidationOptions& options, const Summary& summary);

}  // namespace cpt
