#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "cpt/error.h"
#include "store/blob/blob_set.h"

namespace cpt {

namespace fs = std::filesystem;

namespace {

void require_blob_name(const std::string& name) {
  if (!is_blob_name(name)) throw Error(Fault::kFailed, "'" + name + "' cannot be the name of a blob");
}

// Removes only the name: another set may have the file too, if the file system made a link and then reported a failure.
void remove_name(const fs::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) fail_writing(path, "unlink");
}

// Takes the length of the opened file: network file systems promise a current view of what another host wrote only to
// processes that open the file.
void require_length(const fs::path& path, std::uint64_t expected) {
  std::uint64_t length = 0;
  try {
    length = InputFile(path).size();
  } catch (const Error& error) {
    throw Error(Fault::kCannotWrite, error.what());
  }
  if (length != expected) {
    throw Error(Fault::kCannotWrite, path.string() + ": has " + std::to_string(length) + " bytes, but " +
                                         std::to_string(expected) + " were written");
  }
}

}  // namespace

BlobWriter::BlobWriter(const fs::path& directory, const std::string& name, int threads) : threads_(threads) {
  require_blob_name(name);
  begin(directory, name);
}

void BlobWriter::begin(const fs::path& directory, const std::string& name) {
  intact_ = false;
  segments_.reset();
  remove_name(directory / name);
  file_.emplace(directory / name);
  segments_.emplace(*file_, threads_ > 1 ? threads_ : 0);
  blob_ = Blob{name, {}};
  pending_.clear();
  raw_bytes_ = 0;
  intact_ = true;
}

void BlobWriter::append(std::span<const std::byte> bytes) {
  require_unfinished();
  raw_bytes_ += bytes.size();
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), kMaxSegmentBytes - pending_.size()));
    pending_.insert(pending_.end(), part.begin(), part.end());
    bytes = bytes.subspan(part.size());
    if (pending_.size() == kMaxSegmentBytes) cut();
  }
}

void BlobWriter::cut() {
  require_unfinished();
  if (pending_.empty()) return;
  intact_ = false;
  segments_->put(pending_);
  intact_ = true;
}

void BlobWriter::append_stored(BlobReader& from, std::uint64_t raw_bytes) {
  require_unfinished();
  if (!pending_.empty()) throw Error(Fault::kFailed, "blob '" + blob_.name + "' is not at the end of a segment");
  std::vector<std::byte> space;
  while (raw_bytes > 0) {
    const auto encoded = from.next_stored(space);
    if (!encoded || encoded->segment.raw_bytes > raw_bytes) {
      throw Error(Fault::kFailed, "what blob '" + blob_.name + "' takes from another does not end with a segment");
    }
    intact_ = false;
    segments_->put_stored(*encoded);
    intact_ = true;
    raw_bytes_ += encoded->segment.raw_bytes;
    raw_bytes -= encoded->segment.raw_bytes;
  }
}

const Blob& BlobWriter::finish() {
  require_intact();
  if (!file_) return blob_;
  cut();
  intact_ = false;
  blob_.segments = segments_->finish();
  segments_.reset();
  // Still not intact: a sync that failed must not be repeated, because the second one reports success without the data.
  file_->sync();
  file_->close();
  sync_directory(directory_of(file_->path()));  // C2
  file_.reset();
  intact_ = true;
  return blob_;
}

void BlobWriter::require_intact() const {
  if (!intact_) throw Error(Fault::kCannotWrite, "blob '" + blob_.name + "' is incomplete after an earlier error");
}

void BlobWriter::require_unfinished() const {
  require_intact();
  if (!file_) throw Error(Fault::kFailed, "bytes appended to the finished blob '" + blob_.name + "'");
}

BlobSetWriter::BlobSetWriter(fs::path directory, std::string kind, int threads)
    : directory_(std::move(directory)),
      temporary_(temporary_name(directory_)),
      manifest_{std::move(kind), {}},
      writer_(threads) {
  if (!is_kind(manifest_.kind))
    throw Error(Fault::kFailed, "'" + manifest_.kind + "' cannot be the kind of a blob set");
  if (!may_hold_blob_set(directory_)) {
    throw Error(Fault::kCannotWrite,
                directory_.string() + ": exists and is not a " + manifest_.kind + "; move it away or write elsewhere");
  }
  remove_durably(temporary_);  // of a killed process that had the same number
  create_directory_durably(temporary_);
}

BlobSetWriter::~BlobSetWriter() {
  if (committed_) return;
  std::error_code ignored;
  try {
    // The final name may be on disk if the last sync of a commit failed, so the manifest goes first, as in C8.
    if (fs::remove(temporary_ / kManifestName, ignored)) sync_directory(temporary_);
    fs::remove_all(temporary_, ignored);
  } catch (const Error&) {
    // It stays, like the leftovers of a killed process.
  }
}

BlobWriter& BlobSetWriter::add(const std::string& name) {
  finish_blob();
  require_new_name(name);
  adding_ = true;
  writer_.begin(temporary_, name);
  manifest_.blobs.push_back(Blob{name, {}});
  return writer_;
}

void BlobSetWriter::adopt(Blob blob) {
  finish_blob();
  require_new_name(blob.name);
  require_length(temporary_ / blob.name, blob.stored_bytes());
  manifest_.blobs.push_back(std::move(blob));
}

void BlobSetWriter::share(const BlobSetReader& set, std::string_view blob, const std::string& name) {
  finish_blob();
  require_new_name(name);
  const Blob& shared = set.find(blob);
  if (link_file(set.directory() / shared.name, temporary_ / name)) {
    manifest_.blobs.push_back(Blob{name, shared.segments});
    return;
  }
  BlobReader reader = set.open(blob);
  add(name).append_stored(reader, reader.raw_bytes());
}

void BlobSetWriter::require_new_name(const std::string& name) const {
  require_blob_name(name);
  if (manifest_.find(name) != nullptr) throw Error(Fault::kFailed, "blob '" + name + "' added twice");
}

void BlobSetWriter::finish_blob() {
  if (!adding_) return;
  manifest_.blobs.back() = writer_.finish();
  adding_ = false;
}

void BlobSetWriter::commit() {
  finish_blob();
  OutputFile manifest(temporary_ / kManifestName);
  manifest.write(encode_manifest(manifest_));
  manifest.sync();
  manifest.close();
  sync_directory(temporary_);  // C2: the blobs were synced as they were finished, now the manifest's name
  publish_directory(temporary_, directory_);  // C1
  committed_ = true;
}

bool may_hold_blob_set(const fs::path& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (status.type() == fs::file_type::not_found) return true;
  if (!fs::is_directory(status)) return false;
  return fs::exists(directory / kManifestName, error) || fs::is_empty(directory, error);
}

}  // namespace cpt
