#include <algorithm>
#include <cstring>
#include <system_error>

#include "cpt/error.h"
#include "store/blob/blob_set.h"

namespace cpt {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> read_manifest(const fs::path& directory, const std::string& expected_kind) {
  const fs::path path = directory / kManifestName;
  std::error_code error;
  if (!fs::exists(path, error) && !error) {
    throw Error(Fault::kNoInput, directory.string() + ": not a finished " + expected_kind +
                                     (fs::exists(directory, error) ? ", it has no MANIFEST" : ", no such directory"));
  }
  return read_file(path, kMaxManifestBytes);
}

// C3, for the length of a blob's file.
void verify_length(const fs::path& path, std::uint64_t expected) {
  std::error_code error;
  const std::uintmax_t length = fs::file_size(path, error);
  if (error) {
    const bool missing = error == std::errc::no_such_file_or_directory;
    throw Error(Fault::kBadData, path.string() + ": damaged: " + (missing ? "it is missing" : error.message()));
  }
  if (length != expected) {
    throw Error(Fault::kBadData, path.string() + ": damaged: it has " + std::to_string(length) +
                                     " bytes, the manifest says " + std::to_string(expected));
  }
}

[[noreturn]] void fail_segment(const InputFile& file, const Segment& segment, std::uint64_t offset) {
  throw Error(Fault::kBadData, file.path().string() + ": damaged: " + std::to_string(segment.stored_bytes) +
                                   " bytes from byte " + std::to_string(offset) + " on do not match their checksum");
}

// C3: reads and verifies a segment as it is stored; `space` becomes its bytes.
void read_stored(const InputFile& file, const Segment& segment, std::uint64_t offset, std::vector<std::byte>& space) {
  space.resize(segment.stored_bytes);
  if (file.read_at(offset, space) != space.size() || !is_intact(segment, space)) fail_segment(file, segment, offset);
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
      decode_next();
    }
  }
  return filled;
}

void BlobReader::decode_next() {
  decoded_.resize(blob_.segments[next_segment_].raw_bytes);
  decoded_used_ = decoded_.size();  // nothing of it may be handed out if it turns out to be damaged
  decode_next(decoded_);
  decoded_used_ = 0;
}

// C3: the bytes count as read only after they are verified.
void BlobReader::decode_next(std::span<std::byte> out) {
  const Segment& segment = blob_.segments[next_segment_];
  if (!segment.is_uncompressed()) stored_.resize(segment.stored_bytes);
  const std::span<std::byte> stored = segment.is_uncompressed() ? out : std::span(stored_);
  if (file_.read_at(file_offset_, stored) != stored.size() || !decoder_.decode(segment, stored, out)) {
    fail_segment(file_, segment, file_offset_);
  }
  file_offset_ += segment.stored_bytes;
  ++next_segment_;
}

void BlobReader::read_exactly(std::span<std::byte> out) {
  const std::size_t got = read(out);
  if (got != out.size()) fail_ended_before(out.size() - got);
}

std::optional<SegmentEncoder::Encoded> BlobReader::next_stored(std::vector<std::byte>& space) {
  if (decoded_used_ < decoded_.size()) {
    throw Error(Fault::kFailed, file_.path().string() + ": a segment is taken as a whole after a part of it");
  }
  if (next_segment_ == blob_.segments.size()) return std::nullopt;
  const Segment& segment = blob_.segments[next_segment_];
  read_stored(file_, segment, file_offset_, space);
  file_offset_ += segment.stored_bytes;
  ++next_segment_;
  return SegmentEncoder::Encoded{segment, space};
}

void BlobReader::skip(std::uint64_t raw_bytes) {
  const std::uint64_t ready = std::min<std::uint64_t>(raw_bytes, decoded_.size() - decoded_used_);
  decoded_used_ += ready;
  raw_bytes -= ready;
  for (; next_segment_ < blob_.segments.size(); ++next_segment_) {
    const Segment& segment = blob_.segments[next_segment_];
    if (segment.raw_bytes > raw_bytes) break;
    raw_bytes -= segment.raw_bytes;
    file_offset_ += segment.stored_bytes;
  }
  if (raw_bytes == 0) return;
  if (next_segment_ == blob_.segments.size()) fail_ended_before(raw_bytes);
  decode_next();
  decoded_used_ = raw_bytes;
}

void BlobReader::fail_ended_before(std::uint64_t missing_bytes) const {
  throw Error(Fault::kBadData,
              file_.path().string() + ": ends " + std::to_string(missing_bytes) + " bytes before what should be in it");
}

BlobSetReader::BlobSetReader(fs::path directory, const std::string& expected_kind) : directory_(std::move(directory)) {
  const std::vector<std::byte> file = read_manifest(directory_, expected_kind);
  manifest_ = decode_manifest(file, directory_ / kManifestName);
  if (manifest_.kind != expected_kind) {
    throw Error(Fault::kBadData, directory_.string() + ": is a " + manifest_.kind + ", not a " + expected_kind);
  }
  stored_bytes_ = file.size();
  for (const Blob& blob : manifest_.blobs) {
    verify_length(directory_ / blob.name, blob.stored_bytes());
    stored_bytes_ += blob.stored_bytes();
  }
}

std::vector<std::string> BlobSetReader::names() const {
  std::vector<std::string> names;
  for (const Blob& blob : manifest_.blobs) names.push_back(blob.name);
  return names;
}

const Blob& BlobSetReader::find(std::string_view name) const {
  const Blob* blob = manifest_.find(name);
  if (blob == nullptr) {
    throw Error(Fault::kBadData,
                directory_.string() + ": this " + manifest_.kind + " has no '" + std::string(name) + "'");
  }
  return *blob;
}

BlobReader BlobSetReader::open(std::string_view name) const { return BlobReader(directory_, find(name)); }

void BlobSetReader::verify(std::string_view name) const {
  const Blob& blob = find(name);
  const InputFile file(directory_ / blob.name);
  file.expect_sequential_reads();
  std::vector<std::byte> stored;
  std::uint64_t offset = 0;
  for (const Segment& segment : blob.segments) {
    read_stored(file, segment, offset, stored);
    offset += segment.stored_bytes;
  }
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
