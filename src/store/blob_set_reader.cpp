#include <algorithm>
#include <cstring>
#include <system_error>

#include "cpt/error.h"
#include "store/blob_set.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

Manifest load_manifest(const fs::path& directory, const std::string& expected_kind) {
  const fs::path path = directory / kManifestName;
  std::error_code error;
  if (!fs::exists(path, error) && !error) {
    throw Error(Fault::kNoInput, directory.string() + ": not a finished " + expected_kind +
                                     (fs::exists(directory, error) ? ", it has no MANIFEST" : ", no such directory"));
  }
  Manifest manifest = decode_manifest(read_file(path, kMaxManifestBytes), path);
  if (manifest.kind != expected_kind) {
    throw Error(Fault::kBadData, directory.string() + ": is a " + manifest.kind + ", not a " + expected_kind);
  }
  return manifest;
}

// C3, for the length of a blob's file.
void verify_length(const fs::path& path, std::uint64_t expected) {
  std::error_code error;
  const std::uintmax_t length = fs::file_size(path, error);
  if (error) throw Error(Fault::kBadData, path.string() + ": damaged: " + error.message());
  if (length != expected) {
    throw Error(Fault::kBadData, path.string() + ": damaged: it has " + std::to_string(length) +
                                     " bytes, the manifest says " + std::to_string(expected));
  }
}

}  // namespace

BlobReader::BlobReader(const fs::path& directory, Blob blob)
    : file_(directory / blob.name), blob_(std::move(blob)), raw_bytes_(blob_.raw_bytes()) {
  file_.expect_sequential_reads();
}

std::size_t BlobReader::read(std::span<std::byte> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    const auto rest = out.subspan(filled);
    const auto ready = std::span(decoded_).subspan(decoded_used_);
    if (!ready.empty()) {
      const std::size_t part = std::min(rest.size(), ready.size());
      std::memcpy(rest.data(), ready.data(), part);
      decoded_used_ += part;
      filled += part;
      continue;
    }
    if (next_segment_ == blob_.segments.size()) break;
    const std::size_t raw_bytes = blob_.segments[next_segment_].raw_bytes;
    if (rest.size() >= raw_bytes) {
      decode_next(rest.first(raw_bytes));
      filled += raw_bytes;
    } else {
      decoded_.resize(raw_bytes);
      decoded_used_ = raw_bytes;  // nothing of it may be handed out if it turns out to be damaged
      decode_next(decoded_);
      decoded_used_ = 0;
    }
  }
  return filled;
}

// C3: the bytes count as read only after they are verified.
void BlobReader::decode_next(std::span<std::byte> out) {
  const Segment& segment = blob_.segments[next_segment_];
  if (!segment.is_uncompressed()) stored_.resize(segment.stored_bytes);
  const std::span<std::byte> stored = segment.is_uncompressed() ? out : std::span(stored_);
  if (file_.read_at(file_offset_, stored) != stored.size() || !decoder_.decode(segment, stored, out)) {
    throw Error(Fault::kBadData, file_.path().string() + ": damaged: " + std::to_string(segment.stored_bytes) +
                                     " bytes from byte " + std::to_string(file_offset_) +
                                     " on do not match their checksum");
  }
  file_offset_ += segment.stored_bytes;
  ++next_segment_;
}

void BlobReader::read_exactly(std::span<std::byte> out) {
  const std::size_t got = read(out);
  if (got != out.size()) {
    throw Error(Fault::kBadData, file_.path().string() + ": ends " + std::to_string(out.size() - got) +
                                     " bytes before what should be in it");
  }
}

BlobSetReader::BlobSetReader(fs::path directory, const std::string& expected_kind)
    : directory_(std::move(directory)), manifest_(load_manifest(directory_, expected_kind)) {
  for (const Blob& blob : manifest_.blobs) verify_length(directory_ / blob.name, blob.stored_bytes());
}

std::vector<std::string> BlobSetReader::names() const {
  std::vector<std::string> names;
  for (const Blob& blob : manifest_.blobs) names.push_back(blob.name);
  return names;
}

BlobReader BlobSetReader::open(std::string_view name) const {
  const Blob* blob = manifest_.find(name);
  if (blob == nullptr) {
    throw Error(Fault::kBadData,
                directory_.string() + ": this " + manifest_.kind + " has no '" + std::string(name) + "'");
  }
  return BlobReader(directory_, *blob);
}

std::vector<std::byte> BlobSetReader::read_all(std::string_view name, std::uint64_t max_bytes) const {
  BlobReader reader = open(name);
  if (reader.raw_bytes() > max_bytes) {
    throw Error(Fault::kBadData, (directory_ / name).string() + ": holds " + std::to_string(reader.raw_bytes()) +
                                     " bytes, at most " + std::to_string(max_bytes) + " were expected");
  }
  std::vector<std::byte> bytes(reader.raw_bytes());
  reader.read_exactly(bytes);
  return bytes;
}

}  // namespace cpt
