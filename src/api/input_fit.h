// Whether input and model fit: whether the model has learned anything about the features of the input, and whether its
// calibrators can count the importances in full.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/input_profile.h"
#include "cpt/example.h"
#include "cpt/input.h"
#include "model/learning/learner.h"

namespace cpt {

// "vw lines with features like page^w1 page^w2, of namespaces like page user"
std::string describe(const InputProfile& profile);

// The format of the lines that the model was trained on; kAuto if it is not known, or if lines alone do not make it.
Format line_format_of(const Learner& learner);

// False if the model has met almost none of these distinct features; nothing if there are too few to say, or if the
// model does not count features. Allows for hashing, by which some are met by chance.
std::optional<bool> has_met(const Learner& learner, std::span<const FeatureHash> features);

// The warning to give if has_met() is false. `input`: where the features are from and, if known, describe() of it.
std::string warning_of_misfit(const Learner& learner, const std::string& input);

// A warning if the model has learned from another format of text than `format`, the word of --format; else empty, and
// if either is not known or binary. `input`: where the lines are from. Give it if has_met() cannot say.
std::string warning_of_format(const Learner& learner, const std::string& format, const std::string& input);

// A warning if calibrators, which count an importance as at most Calibrator::kMostImportance, count less than half as
// large a part of all importances as of the least one; else empty. `input`: where the examples are from.
std::string warning_of_importances(std::span<const float> importances, const std::string& input);

}  // namespace cpt
