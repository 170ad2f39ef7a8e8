// Whether a model has learned anything about the features that it is asked to predict by.
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

// Whether the model has met more than almost none of these distinct features; true also if there are too few to say, or
// if the model has no counts of features. The counts are hashed: that some are met by chance is allowed for.
bool has_met(const Learner& learner, std::span<const FeatureHash> features);

// A warning for a model that has not. `input`: where the features are from and, if known, describe() of it.
std::string warning_of_misfit(const Learner& learner, const std::string& input);

}  // namespace cpt
