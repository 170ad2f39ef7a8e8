#include "store/blob/manifest.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cereal/archives/portable_binary.hpp>
#include <cstddef>
#include <cstring>
#include <sstream>
#include <unordered_set>

#include "core/checked.h"
#include "cpt/error.h"

namespace cpt {
namespace {

// The header of a manifest file, the same in every format version, little-endian. The checksum covers all that follows
// it, so a damaged version number is told from a newer one.
struct Header {
  std::array<char, 8> magic;
  std::uint64_t checksum;
  std::uint32_t version;
  std::uint32_t payload_bytes;
};
static_assert(sizeof(Header) == 24);
static_assert(std::endian::native == std::endian::little, "headers and blobs are written as they lie in memory");

constexpr std::array<char, 8> kMagic = {'C', 'P', 'T', 'B', 'L', 'O', 'B', 'S'};
constexpr std::size_t kChecksumStart = offsetof(Header, version);

constexpr std::size_t kMaxBlobName = 128;
constexpr std::size_t kMaxKind = 64;
// A description that travels is a manifest of one blob: its checksum and bounds hold for it too.
constexpr const char* kDescriptionKind = "description";
// The fewest bytes that a blob and a segment take in the payload: they bound the counts read from it.
constexpr std::uint64_t kMinBlobBytes = 8 + 1 + 8;
constexpr std::uint64_t kSegmentBytes = 4 + 4 + 8;

std::uint64_t checksum_of(std::span<const std::byte> file) {
  return XXH3_64bits(file.data() + kChecksumStart, file.size() - kChecksumStart);
}

class PayloadWriter {
 public:
  explicit PayloadWriter(std::ostream& stream)
      : archive_(stream, cereal::PortableBinaryOutputArchive::Options::LittleEndian()) {}

  void write(const Manifest& manifest) {
    write(manifest.kind);
    archive_(std::uint64_t{manifest.blobs.size()});
    for (const Blob& blob : manifest.blobs) {
      write(blob.name);
      archive_(std::uint64_t{blob.segments.size()});
      for (const Segment& segment : blob.segments) {
        archive_(segment.raw_bytes, segment.stored_bytes, segment.checksum);
      }
    }
  }

 private:
  void write(const std::string& text) {
    archive_(std::uint64_t{text.size()}, cereal::binary_data(text.data(), text.size()));
  }

  cereal::PortableBinaryOutputArchive archive_;
};

// Bounds every count before memory is taken for it: cereal's own loaders of strings and vectors would believe it.
class PayloadReader {
 public:
  PayloadReader(std::istream& stream, std::uint64_t payload_bytes) : archive_(stream), payload_bytes_(payload_bytes) {}

  Manifest read() {
    Manifest manifest;
    manifest.kind = read_text(kMaxKind);
    require(is_kind(manifest.kind), "kind");
    manifest.blobs.resize(read_count(payload_bytes_ / kMinBlobBytes));
    for (Blob& blob : manifest.blobs) read(blob);
    return manifest;
  }

 private:
  void read(Blob& blob) {
    blob.name = read_text(kMaxBlobName);
    require(is_blob_name(blob.name) && names_.insert(blob.name).second, "blob name");
    blob.segments.resize(read_count(payload_bytes_ / kSegmentBytes));
    for (Segment& segment : blob.segments) {
      archive_(segment.raw_bytes, segment.stored_bytes, segment.checksum);
      require(segment.raw_bytes <= kMaxSegmentBytes && segment.stored_bytes >= 1 &&
                  segment.stored_bytes <= segment.raw_bytes,
              "segment length");
    }
  }

  std::string read_text(std::uint64_t max_bytes) {
    std::string text(read_count(max_bytes), '\0');
    archive_(cereal::binary_data(text.data(), text.size()));
    return text;
  }

  std::uint64_t read_count(std::uint64_t max) {
    std::uint64_t count = 0;
    archive_(count);
    require(count <= max, "count");
    return count;
  }

  static void require(bool holds, const char* what) {
    if (!holds) throw cereal::Exception(std::string("it has an invalid ") + what);
  }

  cereal::PortableBinaryInputArchive archive_;
  std::uint64_t payload_bytes_;
  std::unordered_set<std::string> names_;
};

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& reason) {
  throw Error(Fault::kBadData, path.string() + ": " + reason);
}

// C3: the header, and through its checksum the payload, before anything in them is believed.
Header verified_header(std::span<const std::byte> file, const std::filesystem::path& path) {
  Header header{};
  if (file.size() < sizeof header) fail(path, "damaged: it ends within its header");
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != kMagic) fail(path, "damaged, or not a manifest: its first bytes are not CPTBLOBS");
  if (header.payload_bytes != file.size() - sizeof header) fail(path, "damaged: its length is not the one it states");
  if (header.checksum != checksum_of(file)) fail(path, "damaged: its checksum does not match");
  return header;
}

}  // namespace

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
  std::ostringstream stream;
  PayloadWriter(stream).write(manifest);
  const std::string payload = std::move(stream).str();

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

  const auto payload = file.subspan(sizeof header);
  std::istringstream stream(std::string(reinterpret_cast<const char*>(payload.data()), payload.size()));
  try {
    Manifest manifest = PayloadReader(stream, payload.size()).read();
    if (stream.peek() != std::istringstream::traits_type::eof()) fail(path, "damaged: bytes follow its last blob");
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
