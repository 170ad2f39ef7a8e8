#include "store/run/checkpoints.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "cpt/error.h"
#include "store/blob/manifest.h"
#include "store/fs/durable_file.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kDigits = 9;
constexpr std::uint64_t kMostNumber = 999'999'999;

std::string name_of(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kDigits - digits.size(), '0') + digits;
}

// 7 for "000000007" and "000000007.tmp-123"; nullopt for names that no checkpoint has.
std::optional<std::uint64_t> number_in(const fs::path& path) {
  const std::string name = path.filename().string();
  const std::string digits = name.substr(0, name.find('.'));
  if (digits.size() != kDigits || digits.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  const std::uint64_t number = std::stoull(digits);
  return number == 0 ? std::nullopt : std::optional(number);
}

// Not a link to a directory: the run may not remove those.
bool is_numbered_directory(const fs::path& path) {
  return path.filename().string().size() == kDigits && number_in(path) &&
         type_of(path, Links::kKeep) == fs::file_type::directory;
}

// Throws if the system cannot tell: a checkpoint that is taken for none would be replaced by a new run.
bool has_manifest(const fs::path& directory) { return type_of(directory / kManifestName) == fs::file_type::regular; }

// A missing directory is an empty one, but a link to nothing leads to a disk that is not mounted.
std::vector<fs::path> sorted_entries(const fs::path& directory) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    entries.push_back(entry->path());
  }
  const bool is_missing =
      error == std::errc::no_such_file_or_directory && type_of(directory, Links::kKeep) == fs::file_type::not_found;
  if (error && !is_missing) {
    throw Error(Fault::kNoInput, directory.string() + ": " + describe_errno("list", error.value()));
  }
  std::sort(entries.begin(), entries.end());
  return entries;
}

bool may_be_blob(const fs::path& path) {
  std::error_code error;
  return is_blob_name(path.filename().string()) && fs::is_regular_file(fs::symlink_status(path, error));
}

bool is_half_removed(const fs::path& directory) {
  const std::vector<fs::path> files = sorted_entries(directory);
  return !has_manifest(directory) && std::all_of(files.begin(), files.end(), may_be_blob);
}

void remove_file(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_writing(path, "unlink");
}

// C8. A rename to a temporary name is not enough: the disk may see the removal of the files first.
void dismantle(const fs::path& directory) {
  remove_file(directory / kManifestName);
  sync_directory(directory);
  for (const fs::path& file : sorted_entries(directory)) {
    if (may_be_blob(file)) remove_file(file);
  }
  const bool holds_more = ::rmdir(directory.c_str()) != 0;
  if (holds_more && errno != ENOTEMPTY && errno != EEXIST) fail_writing(directory, "rmdir");
  sync_directory(directory_of(directory));
}

}  // namespace

// A manifest that exists but cannot be examined was not removed.
bool was_removed(const Checkpoint& checkpoint) {
  std::error_code error;
  return fs::symlink_status(checkpoint.directory / kManifestName, error).type() == fs::file_type::not_found;
}

Checkpoints::Checkpoints(fs::path folder) : folder_(std::move(folder)) {}

std::vector<fs::path> Checkpoints::entries() const { return sorted_entries(folder_); }

std::vector<Checkpoint> Checkpoints::list() const {
  std::vector<Checkpoint> complete;
  for (const fs::path& entry : entries()) {
    if (is_numbered_directory(entry) && has_manifest(entry)) complete.push_back({*number_in(entry), entry});
  }
  return complete;
}

std::vector<Checkpoint> Checkpoints::without_manifest() const {
  std::vector<Checkpoint> found;
  for (const fs::path& entry : entries()) {
    if (!is_numbered_directory(entry)) continue;
    if (has_manifest(entry))
      found.clear();
    else
      found.push_back({*number_in(entry), entry});
  }
  return found;
}

fs::path Checkpoints::next() const {
  std::uint64_t highest = 0;
  for (const fs::path& entry : entries()) highest = std::max(highest, number_in(entry).value_or(0));
  if (highest == kMostNumber) throw Error(Fault::kCannotWrite, folder_.string() + ": has no number left");
  create_directory_durably(folder_);
  return folder_ / name_of(highest + 1);
}

void Checkpoints::prune(std::uint64_t keep, const std::vector<fs::path>& unusable) const {
  if (keep == 0) throw Error(Fault::kFailed, folder_.string() + ": the newest checkpoint must be kept");
  std::vector<Checkpoint> going = list();
  if (going.empty()) return;
  const std::uint64_t newest = going.back().number;
  std::stable_partition(going.begin(), going.end() - 1, [&](const Checkpoint& checkpoint) {
    return std::find(unusable.begin(), unusable.end(), checkpoint.directory) != unusable.end();
  });
  going.resize(going.size() - std::min<std::uint64_t>(keep, going.size()));
  for (const fs::path& entry : entries()) {
    if (!is_numbered_directory(entry)) continue;
    const std::uint64_t number = *number_in(entry);
    const bool goes = has_manifest(entry)
                          ? std::find(going.begin(), going.end(), Checkpoint{number, entry}) != going.end()
                          : number < newest && is_half_removed(entry);
    if (goes) dismantle(entry);
  }
}

void Checkpoints::remove_all() const {
  for (const fs::path& entry : entries()) {
    if (is_numbered_directory(entry) && (has_manifest(entry) || is_half_removed(entry))) dismantle(entry);
  }
}

void Checkpoints::remove_leftovers() const {
  for (const fs::path& entry : entries()) {
    if (is_temporary_name(entry) && number_in(entry)) remove_durably(entry);
  }
}

}  // namespace cpt
