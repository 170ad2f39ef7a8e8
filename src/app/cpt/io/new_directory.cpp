#include "app/cpt/io/new_directory.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "cpt/error.h"
#include "store/fs/durable_file.h"
#include "store/fs/unfinished.h"

namespace cpt {

namespace fs = std::filesystem;

NewDirectory::NewDirectory(fs::path target) : target_(std::move(target)) {
  std::error_code error;
  const bool is_taken = fs::exists(fs::symlink_status(target_, error)) &&
                        !(fs::is_directory(target_, error) && fs::is_empty(target_, error));
  if (is_taken) {
    throw Error(Fault::kCannotWrite, target_.string() + ": exists and is not an empty directory");
  }
  sweep_unfinished(target_);
  path_ = temporary_name(target_);
  create_directory_durably(path_);
  lock_ = FileDescriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock_.get() < 0) throw Error(Fault::kCannotWrite, path_.string() + ": " + describe_errno("open", errno));
  // Another process may have swept it before it was locked.
  if (!hold_unfinished(lock_, path_)) {
    throw Error(Fault::kCannotWrite,
                path_.string() + ": was removed by another process that writes " + target_.string());
  }
}

NewDirectory::~NewDirectory() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void NewDirectory::publish() {
  const fs::path results = std::exchange(path_, {});
  try {
    publish_new_directory(results, target_);
  } catch (const Error& error) {
    throw Error(error.fault(), std::string(error.what()) + "; the results are in " + results.string());
  }
}

std::string part_name(std::uint64_t number, const std::string& ending) {
  return fmt::format("part-{:03}.{}", number, ending);
}

}  // namespace cpt
