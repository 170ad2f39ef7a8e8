// A learner as a blob set of the kind "cpt model":
//   options   of the model (cereal)
//   tree      the labels' names, and for each the label whose leaf it split (cereal): the tree is a function of that
//   weights   the used lines, partition after partition (see weights_blob.h)
#pragma once

#include <filesystem>
#include <memory>

#include "model/learner.h"

namespace cpt {

// Appears under this name whole or not at all. Throws Error(kCannotWrite).
void save_learner(const Learner& learner, const std::filesystem::path& directory);

// Throws Error(kNoInput) if there is no finished model, Error(kBadData) if it is damaged or not one, or of a newer
// format.
std::unique_ptr<Learner> load_learner(const std::filesystem::path& directory);

}  // namespace cpt
