#include "store/blob/manifest.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <unordered_set>

#include "core/checked.h"
#include "cpt/error.h"
#include "store/blob/archive.h"

namespace cpt {
namespace {

// The header of a manifest file, little-endian, the same in every format version. The checksum covers everything after
// it, so a damaged version number is not taken for a newer one.
struct Header {
  std::array<char, 8> magic;
  std::uint64_t checksum;
  std::uint32_t version;
  std::uint32_t payload_bytes;
};
static_assert(sizeof(Header) == 24);
static_assert(std::endian::native == std::endian::little, "headers and blobs are written as in memory");

constexpr std::array<char, 8> kMagic = {'C', 'P', 'T', 'B', 'L', 'O', 'B', 'S'};
constexpr std::size_t kChecksumStart = offsetof(Header, version);

constexpr std::size_t kMaxBlobName = 128;
constexpr std::size_t kMaxKind = 64;
// The description of a blob is a manifest of one blob, so it has the same checksum and bounds.
constexpr const char* kDescriptionKind = "description";

std::uint64_t checksum_of(std::span<const std::byte> file) {
  return XXH3_64bits(file.data() + kChecksumStart, file.size() - kChecksumStart);
}

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& reason) {
  throw Error(Fault::kBadData, path.string() + ": " + reason);
}

// C3: verifies the header, and by its checksum the payload, before anything in them is used.
Header verified_header(std::span<const std::byte> file, const std::filesystem::path& path) {
  Header header{};
  if (file.size() < sizeof header) fail(path, "damaged: it ends within its header");
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != kMagic) fail(path, "damaged, or not a manifest: its first bytes are not CPTBLOBS");
  if (header.payload_bytes != file.size() - sizeof header) fail(path, "damaged: its length is not the one it states");
  if (header.checksum != checksum_of(file)) fail(path, "damaged: its checksum does not match");
  return header;
}

// Bounds the values of a manifest that was read; ArchiveReader has bounded its counts.
void check(const Manifest& manifest) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw cereal::Exception(std::string("it has an invalid ") + what);
  };
  require(is_kind(manifest.kind), "kind");
  std::unordered_set<std::string_view> names;
  for (const Blob& blob : manifest.blobs) {
    require(is_blob_name(blob.name) && names.insert(blob.name).second, "blob name");
    for (const Segment& segment : blob.segments) {
      require(segment.raw_bytes <= kMaxSegmentBytes && segment.stored_bytes >= 1 &&
                  segment.stored_bytes <= segment.raw_bytes,
              "segment length");
    }
  }
}

}  // namespace

// The payload: these members in this order, see format.md.
template <class Archive>
void serialize(Archive& archive, Segment& segment) {
  archive(segment.raw_bytes, segment.stored_bytes, segment.checksum);
}
template <class Archive>
void serialize(Archive& archive, Blob& blob) {
  archive(blob.name, blob.segments);
}
template <class Archive>
void serialize(Archive& archive, Manifest& manifest) {
  archive(manifest.kind, manifest.blobs);
}

std::uint64_t Blob::raw_bytes() const {
  std::uint64_t sum = 0;
  for (const Segment& segment : segments) sum += segment.raw_bytes;
  return sum;
}

std::uint64_t Blob::stored_bytes() const {
  std::uint64_t sum = 0;
  for (const Segment& segment : segments) sum += segment.stored_bytes;
  return sum;
}

const Blob* Manifest::find(std::string_view name) const {
  const auto found = std::find_if(blobs.begin(), blobs.end(), [&](const Blob& blob) { return blob.name == name; });
  return found == blobs.end() ? nullptr : &*found;
}

bool is_blob_name(std::string_view name) {
  constexpr std::string_view kAllowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
  return !name.empty() && name.size() <= kMaxBlobName && name.find_first_not_of(kAllowed) == std::string_view::npos &&
         name.front() != '.' && name != kManifestName;
}

bool is_kind(std::string_view kind) {
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  return !kind.empty() && kind.size() <= kMaxKind && std::all_of(kind.begin(), kind.end(), printable);
}

std::vector<std::byte> encode_manifest(const Manifest& manifest) {
  const std::string payload = archived(manifest);
  if (sizeof(Header) + payload.size() > kMaxManifestBytes) {
    throw Error(Fault::kFailed, "a " + manifest.kind + " of this size does not fit one manifest");
  }

  Header header{kMagic, 0, kBlobSetFormat, narrow<std::uint32_t>(payload.size(), "length of a manifest")};
  std::vector<std::byte> file(sizeof header + payload.size());
  std::memcpy(file.data(), &header, sizeof header);
  std::memcpy(file.data() + sizeof header, payload.data(), payload.size());
  header.checksum = checksum_of(file);
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

std::uint64_t digest_of(const Manifest& manifest) { return checksum_of(encode_manifest(manifest)); }

Manifest decode_manifest(std::span<const std::byte> file, const std::filesystem::path& path) {
  const Header header = verified_header(file, path);
  if (header.version > kBlobSetFormat) {  // C9
    fail(path, "was written by format version " + std::to_string(header.version) + "; this program reads up to " +
                   std::to_string(kBlobSetFormat));
  }
  if (header.version == 0) fail(path, "has format version 0, which does not exist");

  try {
    ArchiveReader archive(file.subspan(sizeof header));
    Manifest manifest;
    archive(manifest);
    check(manifest);
    if (archive.left() > 0) fail(path, "damaged: bytes follow its last blob");
    return manifest;
  } catch (const cereal::Exception& error) {
    fail(path, std::string("damaged: ") + error.what());
  }
}

std::vector<std::byte> encode_blob(const Blob& blob) { return encode_manifest({kDescriptionKind, {blob}}); }

Blob decode_blob(std::span<const std::byte> bytes) {
  constexpr const char* kWhat = "the description of a blob";
  Manifest manifest = decode_manifest(bytes, kWhat);
  if (manifest.kind != kDescriptionKind || manifest.blobs.size() != 1) fail(kWhat, "is that of something else");
  return std::move(manifest.blobs.front());
}

}  // namespace cpt
