// How input and model fit: whether a model has learned anything about the features that it is asked to predict by, and
// whether it can take the importances of examples for what they are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/input_profile.h"
#include "cpt/example.h"
#include "model/learning/learner.h"

namespace cpt {

// "vw lines with features like page^w1 page^w2, of namespaces like page user"
std::string describe(const InputProfile& profile);

// False if the model has met almost none of these distinct features; true if there are too few to say, or if the model
// does not count features. Allows for hashing, by which some are met by chance.
bool has_met(const Learner& learner, std::span<const FeatureHash> features);

// A warning for a model that has not. `input`: where the features are from and, if known, describe() of it.
std::string warning_of_misfit(const Learner& learner, const std::string& input);

// A warning if calibrators, which take an importance for Calibrator::kMostImportance at most, see less than half of
// the importance of these examples, against those of least importance; else empty. `input`: where they are from.
std::string warning_of_importances(std::span<const float> importances, const std::string& input);

}  // namespace cpt
