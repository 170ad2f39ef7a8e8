#include "app/new_directory.h"

#include <fmt/format.h>

#include <system_error>

#include "cpt/error.h"
#include "store/durable_file.h"

namespace cpt {

namespace fs = std::filesystem;

NewDirectory::NewDirectory(const fs::path& target) : target_(target), path_(temporary_name(target)) {
  require_nothing_there(target);
  create_directory_durably(path_);
}

NewDirectory::~NewDirectory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void NewDirectory::publish() { publish_directory(path_, target_); }

std::string part_name(std::uint64_t number, const std::string& ending) {
  return fmt::format("part-{:03}.{}", number, ending);
}

void require_nothing_there(const fs::path& target) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(target, error))) return;
  if (fs::is_directory(target, error) && fs::is_empty(target, error)) return;
  throw Error(Fault::kCannotWrite, target.string() + ": is there already, and is not an empty directory");
}

}  // namespace cpt
