#include "app/cpt/io/new_directory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cpt/error.h"
#include "store/fs/durable_file.h"
#include "store/fs/unfinished.h"

namespace cpt {

namespace {

namespace fs = std::filesystem;

bool is_a_directory(const fs::path& path) {
  std::error_code unknown;
  return fs::is_directory(path, unknown);
}

// But for the leftovers, which may be all that there is of a result where a process was killed while it moved it up.
void require_nothing_there(const fs::path& target, const std::vector<fs::path>& leftovers) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(target, error))) return;
  const auto is_leftover = [&](const fs::directory_entry& entry) {
    return std::ranges::count(leftovers, entry.path().filename(), &fs::path::filename) > 0;
  };
  const fs::directory_iterator entries(target, error);
  if (!error && std::all_of(begin(entries), end(entries), is_leftover)) return;
  throw Error(Fault::kCannotWrite, target.string() + ": is there already, and is not an empty directory");
}

// A process of another container may have the same number.
void create_alone(const fs::path& path) {
  std::error_code unknown;
  if (fs::exists(path, unknown)) {
    throw Error(Fault::kCannotWrite, path.string() + ": is there already; remove it if no other process writes it");
  }
  create_directory_durably(path);
}

}  // namespace

NewDirectory::NewDirectory(const fs::path& target) : target_(target), fills_(is_a_directory(target)) {
  const fs::path unfinished = fills_ ? target / "unfinished" : target;
  require_nothing_there(target, find_unfinished(unfinished));
  sweep_unfinished(unfinished);
  require_nothing_there(target, {});
  path_ = temporary_name(unfinished);
  do {
    create_alone(path_);
    held_ = FileDescriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (held_.get() < 0) throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("open", errno));
  } while (!hold_unfinished(held_, path_));
  removal_.emplace(path_);
}

NewDirectory::~NewDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

// What others have put there meanwhile stays, and so does what took long to make.
void NewDirectory::publish() try {
  removal_.reset();
  if (fills_) {
    publish_contents(path_, target_);
  } else {
    publish_new_directory(path_, target_);
  }
} catch (const Error& error) {
  const fs::path kept = std::exchange(path_, {});
  throw Error(error.fault(), std::string(error.what()) + "; what was made is in " + kept.string());
}

std::string part_name(std::uint64_t number, const std::string& ending) {
  return fmt::format("part-{:03}.{}", number, ending);
}

}  // namespace cpt
