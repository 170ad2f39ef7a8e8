#include "app/shared/model_path.h"

#include <system_error>

#include "cpt/error.h"
#include "store/blob/manifest.h"
#include "store/run/run_directory.h"

namespace cpt {

namespace fs = std::filesystem;

void require_no_run_around_model(const fs::path& model) {
  std::error_code unknown;
  const fs::path inside = RunDirectory::model(model);
  if (fs::exists(model / kManifestName, unknown) || !fs::exists(inside / kManifestName, unknown)) return;
  throw Error(Fault::kNoInput, model.string() + ": is not a model; did you mean " + inside.string() + "?");
}

}  // namespace cpt
